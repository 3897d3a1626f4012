import { ensureAuditStreams } from '#audit/streams.js';
import {
  type RetentionSettings,
  retentionOf,
  trailServer,
  type TrailSettings,
} from '#operations/administration.options.js';
import { withNats } from '#operations/running-services/nats.js';

/** @throws Error with the reason why NATS did not create or update the streams */
export async function createStreams(settings: TrailSettings & RetentionSettings): Promise<void> {
  const { url, variable } = trailServer(settings);
  try {
    await withNats(url, (nats) => ensureAuditStreams(nats, retentionOf(settings)));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `NATS (${variable}) did not create or update the streams of the audit trail: ${reason}; ` +
        'it needs JetStream, and the administrator of the trail: docs/audit.md',
      { cause },
    );
  }
}
