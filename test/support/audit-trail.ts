import { readFile } from 'node:fs/promises';
import { connect } from '@nats-io/transport-node';
import type { AuditEvent } from '#audit/event.js';
import type { AuditFilter } from '#audit/filter.js';
import { AuditReader } from '#audit/reader.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { until } from './until.js';

export async function openAuditReader(natsUrl: string) {
  const nats = await connect({ ...natsOptions(natsUrl, 'audit test'), waitOnFirstConnect: false });
  return { reader: await AuditReader.of(nats), close: () => nats.close() };
}

/**
 * Waits for at least `count` matching events, because processes publish asynchronously.
 * @returns the oldest event first
 */
export async function auditEvents(natsUrl: string, filter: AuditFilter, count = 1): Promise<AuditEvent[]> {
  const { reader, close } = await openAuditReader(natsUrl);
  let events: AuditEvent[] = [];
  try {
    await until(`${count} events`, 60_000, async () => {
      events = [];
      for await (const event of reader.read(filter)) events.push(event);
      return events.length >= count;
    });
  } finally {
    await close();
  }
  return events;
}

/** Fields that `detail` may contain in an event of any type. */
const COMMON = ['trace_id', 'cause', 'diagnosis', 'omitted'];

/**
 * Returns the fields that are missing from docs/audit.md: from the section to which the row of their event type links,
 * or from the row if it links to no section.
 */
export async function undocumentedDetails(events: readonly AuditEvent[]): Promise<string[]> {
  const document = await readFile('docs/audit.md', 'utf8');
  const rows = document.split('\n').map((line) => line.split(/ *\| */));
  const sections = new Map(
    document.split(/^### /m).map((text) => {
      const [title = ''] = text.split('\n', 1);
      return [title.toLowerCase().replaceAll(' ', '-'), text];
    }),
  );
  const undocumented = events.flatMap(({ type, detail = {} }) => {
    const cell = rows.find(([, types = '']) => types.includes(`\`${type}\``))?.[3] ?? '';
    const described = sections.get(/\(#([\w-]+)\)$/.exec(cell)?.[1] ?? '') ?? cell;
    if (described.startsWith('the values compared')) return [];
    return Object.keys(detail)
      .filter((field) => !COMMON.includes(field) && !described.includes(`\`${field}\``))
      .map((field) => `${type}: ${field}`);
  });
  return [...new Set(undocumented)];
}
