import { hostname, userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { AuditRecord } from '#audit/event.js';
import { jsonText, warn } from '../command-line/output.js';
import { trailServer } from '../connections/audit-trail.connection.js';
import { withNats } from '../connections/nats.connection.js';
import type { TrailSettings } from '../settings/settings.js';

const RETRY_FOR_MS = 5_000;
const RETRY_MS = 500;
/** For all events of a command: an import may have thousands. */
const STORE_WITHIN_MS = 30_000;

/**
 * Records a completed change and its operator in the audit trail. If NATS does not store an event, the change stands, and a
 * warning prints the whole event.
 */
export async function recordCommand(
  settings: TrailSettings,
  ...records: readonly Omit<AuditRecord, 'operator'>[]
): Promise<void> {
  if (records.length === 0) return;
  // Loaded on demand: help and wrong input do not need it.
  const [{ auditEvent }, { isUnserved, storeEvent }] = await Promise.all([
    import('#audit/event.js'),
    import('#audit/streams.js'),
  ]);
  const operator = operatorName();
  const events = records.map((record) => auditEvent('operator', { ...record, operator }));
  const storeAll = async (nats: NatsConnection): Promise<void> => {
    // Stored events are removed, so that a retry does not store them twice.
    for (let event = events[0]; event; events.shift(), event = events[0]) await storeEvent(nats, event);
  };
  const { url, variable } = trailServer(settings);
  for (const end = Date.now() + RETRY_FOR_MS; ; await sleep(RETRY_MS)) {
    try {
      return await withNats(url, storeAll, STORE_WITHIN_MS);
    } catch (error) {
      if (isUnserved(error) || Date.now() >= end) break;
    }
  }
  for (const event of events)
    warn(`NATS (${variable}) did not store this event of the audit trail: ${jsonText(event)}`);
}

function operatorName(): string {
  return `${process.env.OPERATOR_NAME || systemUser()}@${hostname()}`;
}

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
