import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { changesText } from '#audit/operations/changed-fields.js';
import type { SelectedEvents } from '#audit/operations/audit.service.js';
import { MOMENT } from '#audit/operations/audit.dto.js';
import { counted, printable } from '#operations/wording.js';
import type { AuditEvent } from '#audit/event.js';
import { CLIENT } from '../client/client-lookup.command.js';
import { warnOf } from '../command-line/change.js';
import { progressBar } from '../command-line/prompts.js';
import { InputError } from '../command-line/flags.js';
import { collect, OperatorCommand } from '../command-line/operator-command.js';
import {
  type JsonOption,
  jsonLine,
  printJsonLine,
  printLine,
  printTable,
  warn,
} from '../command-line/output.js';
import { withAdministration } from '../connections/administration.js';
import { ChangeSettings } from '../settings/settings.js';

export function auditCommand(): OperatorCommand {
  const audit = new OperatorCommand('audit').description('the audit trail').examples('audit search --help');

  filters(audit.command('tail'))
    .description('print events as they happen, until Ctrl-C; with --since, earlier events first')
    .jsonOption('print one JSON object per line')
    .examples('audit tail', 'audit tail --client sc_abcdefghijklmnopqrstuvwx --type request.refused')
    .action(tail);

  filters(audit.command('search'))
    .description('print the newest events that match, oldest first')
    .option('--limit <number>', 'how many at most, 1 to 10000 (default: 100)', Number)
    .jsonOption('print one JSON object per line')
    .examples(
      'audit search --user ada@example.com --since 7d',
      'audit search --client "Calendar Connect" --type request.refused',
      'audit search --type operator --type client --since 2026-11-01 --json',
    )
    .action(search);

  filters(audit.command('export'))
    .description('write every event that matches, as one JSON object per line')
    .option('--output <file>', 'a new file (default: standard output)')
    .jsonOption('changes nothing: the output is JSON anyway')
    .examples('audit export --since 2026-10-01 --until 2026-11-01 --output october.jsonl')
    .action(exportEvents);

  return audit;
}

function filters(command: OperatorCommand): OperatorCommand {
  return command
    .option(
      '--type <type>',
      'only this type, like token.issued, or token for all of them; may be repeated',
      collect,
    )
    .option('--client <id>', `only of this application: ${CLIENT}`)
    .option('--user <login>', 'only of this user; id: and the id for a deleted one')
    .option('--grant <id>', 'only of this grant')
    .option('--reference <reference>', 'only of the request with this error_reference')
    .option('--check <check>', 'only requests that failed this check, like code_expired')
    .option('--since <time>', `start of the period: ${MOMENT}`)
    .option('--until <time>', 'end of the period, in the same format');
}

interface FilterOptions extends JsonOption {
  readonly type?: readonly string[];
}

async function tail({ json, type: types, ...options }: FilterOptions): Promise<void> {
  const end = new AbortController();
  const stop = () => end.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await withAdministration(ChangeSettings, async ({ audit }) => {
      const selected = await audit.select({ ...options, types });
      warnOf(selected.warnings);
      await selected.follow(end.signal, (event) => (json ? printJsonLine(event) : printLine(lineOf(event))));
    });
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

async function search({ json, type: types, ...options }: FilterOptions): Promise<void> {
  const { events, more, warnings } = await withAdministration(ChangeSettings, ({ audit }) =>
    audit.search({ ...options, types }),
  );
  warnOf(warnings);
  if (more) warn(`there are older events: raise --limit, or use audit export`);
  if (json) return events.forEach(printJsonLine);
  if (events.length === 0) return printLine('No events found.');
  // Events contain an address and a user agent only with AUDIT_CLIENT_ADDRESS=true.
  const hasCallers = events.some(({ address, user_agent }) => (address ?? user_agent) !== undefined);
  printTable(
    [
      'time',
      'type',
      'client_id',
      'user_id',
      'reference',
      ...(hasCallers ? ['address', 'user_agent'] : []),
      'summary',
    ],
    events.map((event) => [
      event.time,
      event.type,
      event.client_id ?? '',
      String(event.user_id ?? ''),
      event.reference ?? '',
      ...(hasCallers ? [event.address ?? '', event.user_agent ?? ''] : []),
      summaryOf(event),
    ]),
  );
}

async function exportEvents(options: FilterOptions & { output?: string }): Promise<void> {
  const { output, json: _, type: types, ...filter } = options;
  const written = await withAdministration(ChangeSettings, async ({ audit }) => {
    const selected = await audit.select({ ...filter, types });
    warnOf(selected.warnings);
    return writeEvents(selected, output);
  });
  if (output !== undefined) printLine(`Wrote ${counted(written, 'event')} to ${output}`);
}

async function writeEvents(selected: SelectedEvents, output: string | undefined): Promise<number> {
  // Only the current user may read the file, because it shows the activity of users.
  const file = output === undefined ? null : createWriteStream(output, { flags: 'wx', mode: 0o600 });
  const stream = file ?? process.stdout;
  if (file)
    await once(file, 'open').catch((error: NodeJS.ErrnoException) =>
      Promise.reject(new InputError([`--output: ${problemOf(error, output ?? '')}`])),
    );
  const bar = progressBar('events read');
  let written = 0;
  try {
    await selected.read(
      async (event) => {
        written++;
        if (!stream.write(jsonLine(event))) await once(stream, 'drain');
      },
      (read, total) => bar.show(read, total),
    );
    return written;
  } finally {
    bar.end();
    file?.end();
    if (file) await finished(file);
  }
}

function problemOf({ code, message }: NodeJS.ErrnoException, file: string): string {
  return code === 'EEXIST' ? `${file} already exists, and is not overwritten: choose another name` : message;
}

function lineOf(event: AuditEvent): string {
  const { time, type, client_id, user_id, reference, address, user_agent } = event;
  const user = user_id === undefined ? '' : `user ${user_id}`;
  return [time, type.padEnd(22), client_id, user, reference, address, user_agent, summaryOf(event)]
    .filter((part) => part !== undefined && part !== '')
    .map((part) => printable(String(part)))
    .join('  ');
}

function summaryOf(event: AuditEvent): string {
  const { service, operator, error, check, detail = {} } = event;
  const changes = changesText(event);
  if (operator !== undefined || changes !== '')
    return [operator ?? `(${service})`, detail['command'], changes]
      .filter((part) => typeof part === 'string' && part !== '')
      .join(': ');
  const failed = check === undefined ? error : [error, `failed check: ${check}`].filter(Boolean).join(', ');
  return [failed ?? detail['outcome'], `(${service})`].filter((part) => typeof part === 'string').join(' ');
}
