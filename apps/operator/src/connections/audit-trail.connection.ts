import type { AuditReader } from '#audit/reader.js';
import type { TrailSettings } from '../settings/settings.js';

export function trailServer({ NATS_URL, AUDIT_NATS_URL }: TrailSettings): { url: string; variable: string } {
  return AUDIT_NATS_URL === ''
    ? { url: NATS_URL, variable: 'NATS_URL' }
    : { url: AUDIT_NATS_URL, variable: 'AUDIT_NATS_URL' };
}

/** @throws Error that says what is missing in NATS */
export async function withAuditTrail<T>(
  settings: TrailSettings,
  work: (reader: AuditReader) => Promise<T>,
): Promise<T> {
  const [{ AuditReader }, { isUnserved }] = await Promise.all([
    import('#audit/reader.js'),
    import('#audit/streams.js'),
  ]);
  const { url, variable } = trailServer(settings);
  const reader = await AuditReader.open(url).catch((cause: unknown) => {
    throw new Error(`NATS (${variable}) does not answer: the audit trail cannot be read`, { cause });
  });
  try {
    return await work(reader);
  } catch (cause) {
    if (isUnserved(cause))
      throw new Error(`NATS (${variable}) has no JetStream: there is no audit trail`, { cause });
    throw cause;
  } finally {
    await reader.close();
  }
}
