import { JetStreamApiCodes, JetStreamApiError, type StreamConfig } from '@nats-io/jetstream';

/** Returns null if a requested stream does not exist. */
export function nullIfMissing(error: unknown): null {
  if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return null;
  throw error;
}

/** Names of the wanted settings that a stream does not have. */
export function differingFields(config: StreamConfig, wanted: Partial<StreamConfig>): string[] {
  return Object.entries(wanted)
    .filter(([name, value]) => JSON.stringify(config[name as keyof StreamConfig]) !== JSON.stringify(value))
    .map(([name]) => name);
}
