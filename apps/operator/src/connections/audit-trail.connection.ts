import type { AuditReader } from '#audit/reader.js';

/** Opens the audit trail for the length of `work`. @throws Error that says what is missing in NATS */
export async function withAuditTrail<T>(
  natsUrl: string,
  work: (reader: AuditReader) => Promise<T>,
): Promise<T> {
  // Loaded on demand: help and wrong input need none of it.
  const [{ AuditReader }, { isUnserved }] = await Promise.all([
    import('#audit/reader.js'),
    import('#audit/streams.js'),
  ]);
  const reader = await AuditReader.open(natsUrl).catch((cause: unknown) => {
    throw new Error('NATS (NATS_URL) does not answer: the audit trail cannot be read', { cause });
  });
  try {
    return await work(reader);
  } catch (cause) {
    if (isUnserved(cause))
      throw new Error('NATS (NATS_URL) has no JetStream: there is no audit trail', { cause });
    throw cause;
  } finally {
    await reader.close();
  }
}
