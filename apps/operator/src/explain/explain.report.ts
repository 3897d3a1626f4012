import { changesText } from '#audit/operations/changed-fields.js';
import { counted, printable } from '#operations/wording.js';
import type { AuditEvent } from '#audit/event.js';
import { PARTY_NAMES } from '#error-guide/guide-entry.js';
import type { EventView } from '#events/operations/event.service.js';
import { minuteOf, printFields, printLine, printTable } from '../command-line/output.js';
import { commandLine } from '../command-line/shell.js';
import { styled } from '../command-line/table.js';
import { type Comparison, type Difference, marked, valueText } from '#audit/operations/explain/comparison.js';
import { firstValueOf } from '#audit/operations/explain/explanation.js';
import type { ClientSummary } from '#audit/operations/explain/client-history.service.js';
import type { ExplainedRequest } from '#audit/operations/explain/explain.service.js';
import type { EventRemedy } from '#audit/operations/explain/event-remedies.js';

export function printExplanation({ explanation, around, uses, deliveries }: ExplainedRequest): void {
  const { event, others, reference, clientId, userId, grantId, title, meaning, comparison, remedies } =
    explanation;
  const { error, check } = event;
  const events = [event, ...others];
  const [request, status] = [
    firstValueOf(events, (from) => from.request),
    firstValueOf(events, (from) => from.status),
  ];
  fields({
    Reference: reference,
    Time: event.time,
    Request: request ? `${request.method} ${request.path}` : null,
    Service: events.map(({ service }) => service).join(', '),
    Event: event.type,
    Answer: [status, error].filter((part) => part !== undefined).join(' ') || null,
    Description: firstValueOf(events, (from) => from.description) ?? null,
    'Failed check': check ?? null,
    Client: clientId,
    User: userId === null ? null : String(userId),
    Grant: grantId,
    Address: firstValueOf(events, (from) => from.address) ?? null,
    'User agent': firstValueOf(events, (from) => from.user_agent) ?? null,
    Operator: event.operator ?? null,
  });
  if (title === null) printLine('\nThis request was not refused.');
  else {
    heading(title);
    printLine(printable(unquoted(meaning ?? '')));
  }
  printComparison(comparison);
  printRemedies(remedies);
  printUses(uses);
  printDeliveries(deliveries);
  printAround(around, clientId);
}

function printComparison({ values, differences }: Comparison): void {
  if (values.length === 0) return;
  heading('Values');
  // Names of details are also untrusted, because any publisher of events chooses them.
  const lines = values.map(({ name, value }) => [printable(name), printable(value)] as const);
  const width = Math.max(...lines.map(([name]) => name.length));
  for (const [name, value] of lines) printLine(`  ${name.padEnd(width)}  ${value}`);
  if (differences.length === 0) return;
  heading('Difference, character by character');
  for (const difference of differences) printLine(`  ${coloured(difference)}`);
  printLine('  {+…+} was only sent, [-…-] was only expected.');
}

/** Keeps the marks, so that the difference is readable without colour. */
function coloured({ parts }: Difference): string {
  return parts
    .map((part) => {
      const text = printable(marked(part));
      return part.only ? styled(part.only === 'sent' ? 'green' : 'red', text) : text;
    })
    .join('');
}

function printRemedies(remedies: readonly EventRemedy[]): void {
  if (remedies.length === 0) return;
  heading('Who can fix it, most likely first');
  for (const { party, action, commands } of remedies) {
    printLine(`  ${styled('bold', PARTY_NAMES[party])}: ${printable(unquoted(action))}`);
    for (const words of commands) printLine(`    ${printable(commandLine(...words))}`);
  }
}

/** Prints who used the grant, because two different callers suggest theft. */
function printUses(uses: readonly AuditEvent[]): void {
  if (uses.length === 0) return;
  heading('Uses of the grant');
  printTable(
    ['time', 'event', 'generation', 'address', 'user_agent', 'reference'],
    uses.map(({ time, type, detail = {}, address, user_agent, reference }) => [
      time,
      type,
      valueText(detail['generation'] ?? detail['sent'] ?? ''),
      address ?? '',
      user_agent ?? '',
      reference ?? '',
    ]),
  );
  if (uses.every(({ address }) => address === undefined))
    printLine('  The addresses are not recorded: AUDIT_CLIENT_ADDRESS is not true.');
}

function printDeliveries(deliveries: readonly EventView[]): void {
  if (deliveries.length === 0) return;
  heading('Events for the application');
  printTable(
    ['time', 'event', 'state', 'attempts', 'answer', 'next attempt', 'jti'],
    deliveries.map((event) => [
      minuteOf(event.created_at),
      event.type,
      event.stream_status === 'enabled' || event.state !== 'waiting' ? event.state : event.stream_status,
      String(event.attempts),
      event.answer ?? '',
      event.next_attempt_at === null ? '' : minuteOf(event.next_attempt_at),
      event.jti,
    ]),
  );
}

function printAround(around: readonly AuditEvent[], clientId: string | null): void {
  if (clientId === null) return;
  heading('The same client, 5 minutes before and after');
  if (around.length === 0) return printLine('  nothing else');
  printTable(
    ['time', 'event', 'status', 'check or change', 'user', 'reference'],
    around.map(({ time, type, status, check, error, user_id: user, reference, ...event }) => [
      time.slice(11, 23),
      type,
      String(status ?? ''),
      check ?? error ?? changesText(event),
      String(user ?? ''),
      reference ?? '',
    ]),
  );
}

export function printSummary({
  client_id: clientId,
  since: from,
  groups,
  refused,
  logouts,
  succeeded,
}: ClientSummary): void {
  const what = counted(refused, 'request');
  const failed = logouts === 0 ? '' : ` ${counted(logouts, 'logout token')} not accepted;`;
  printLine(
    `Since ${from}, ${what} of ${printable(clientId)} refused;${failed} ${counted(succeeded, 'other event')}.`,
  );
  for (const { check, error, title, failure, count, first, last, reference, party, remedy } of groups) {
    heading(`${count} × ${title ?? check ?? error ?? 'unknown'}`);
    const group = {
      'Failed check': [check, error].filter((part) => part !== null).join(', '),
      Failure: failure,
      First: first,
      Last: last,
      Reference: reference,
    };
    fields(group);
    if (party !== null && remedy !== null) printLine(`${PARTY_NAMES[party]}: ${unquoted(remedy)}`);
  }
}

function heading(text: string): void {
  printLine();
  printLine(styled('bold', printable(text)));
}

function fields(values: Readonly<Record<string, string | null>>): void {
  const present = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== null);
  printFields(Object.fromEntries(present));
}

const unquoted = (text: string): string => text.replaceAll('`', '');
