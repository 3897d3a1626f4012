import { JetStreamApiCodes, JetStreamApiError, type StreamConfig } from '@nats-io/jetstream';

/** Returns null if the error means that the stream does not exist; rethrows any other error. */
export function nullIfMissing(error: unknown): null {
  if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return null;
  throw error;
}

/** Returns the names of the settings that differ from `wanted`. */
export function differingFields(config: StreamConfig, wanted: Partial<StreamConfig>): string[] {
  return Object.entries(wanted)
    .filter(([name, value]) => JSON.stringify(config[name as keyof StreamConfig]) !== JSON.stringify(value))
    .map(([name]) => name);
}
