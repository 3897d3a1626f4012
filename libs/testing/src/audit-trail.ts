import type { AuditEvent } from '#audit/event.js';
import type { AuditFilter } from '#audit/filter.js';
import { AuditReader } from '#audit/reader.js';
import { until } from './topology/until.js';

/** The events of the audit trail that match, oldest first, once there are at least `count`: processes publish in the background. */
export async function auditEvents(natsUrl: string, filter: AuditFilter, count = 1): Promise<AuditEvent[]> {
  const reader = await AuditReader.open(natsUrl, 'audit test');
  let events: AuditEvent[] = [];
  try {
    await until(`${count} events`, 60_000, async () => {
      events = [];
      for await (const event of reader.read(filter)) events.push(event);
      return events.length >= count;
    });
  } finally {
    await reader.close();
  }
  return events;
}
