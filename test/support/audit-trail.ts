import { readFile } from 'node:fs/promises';
import type { AuditEvent } from '#audit/event.js';
import type { AuditFilter } from '#audit/filter.js';
import { AuditReader } from '#audit/reader.js';
import { until } from './until.js';

/** Waits for at least `count` matching events, because processes publish in the background. Returns them, oldest first. */
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

/** In `detail` of every type. */
const COMMON = ['trace_id', 'cause', 'diagnosis', 'omitted'];

/** The fields in `detail` of these events that the row of their type in docs/audit.md does not name, as `type: field`. */
export async function undocumentedDetails(events: readonly AuditEvent[]): Promise<string[]> {
  const rows = (await readFile('docs/audit.md', 'utf8')).split('\n').map((line) => line.split(/ *\| */));
  const undocumented = events.flatMap(({ type, detail = {} }) => {
    const described = rows.find(([, types = '']) => types.includes(`\`${type}\``))?.[4] ?? '';
    if (described.startsWith('the values compared')) return [];
    return Object.keys(detail)
      .filter((field) => !COMMON.includes(field) && !described.includes(`\`${field}\``))
      .map((field) => `${type}: ${field}`);
  });
  return [...new Set(undocumented)];
}
