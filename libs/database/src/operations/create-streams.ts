import { ensureAuditStreams } from '#audit/streams.js';
import {
  type RetentionSettings,
  retentionOf,
  trailServer,
  type TrailSettings,
} from '#operations/administration.options.js';
import { AdministrationError } from '#operations/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import { withNats } from '#operations/running-services/nats.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    /** `variable` has the URL of NATS. */
    streams_not_created: { readonly variable: string; readonly reason: string };
  }
}

/** @throws AdministrationError with the reason why NATS did not create or update the streams */
export async function createStreams(settings: TrailSettings & RetentionSettings): Promise<void> {
  const { url, variable } = trailServer(settings);
  try {
    await withNats(url, (nats) => ensureAuditStreams(nats, retentionOf(settings)));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const refused = problem('streams_not_created', [], { variable, reason });
    throw new AdministrationError('unavailable', [refused], { cause });
  }
}
