import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import { counted, printable, quoted } from '#operations/wording.js';
import type { BadLine, ImportCounts } from '#users/operations/import/user-import.js';
import { actor, printChange } from '../command-line/change.js';
import { progressBar } from '../command-line/prompts.js';
import { choice, IncompleteError, InputError } from '../command-line/flags.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printLine, printResult } from '../command-line/output.js';
import { withAdministration } from '../connections/administration.js';
import { ChangeSettings, readSettings } from '../settings/settings.js';

interface Options extends JsonOption {
  format?: string;
  issuer?: string;
  replacePasswords?: boolean;
  dryRun?: boolean;
}

/** Limit of `bad_lines` with --json; stderr lists all of them. */
const MAX_BAD_LINES = 1000;
/** Limit of an unknown field's name. */
const MAX_NAME = 100;
const FORMATS: Readonly<Record<string, string>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.json': 'jsonl',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
};

export function userImportCommand(): OperatorCommand {
  return new OperatorCommand('import')
    .argument('<file>', 'JSON lines (.jsonl, .ndjson) or CSV (.csv, .tsv); - for stdin')
    .description('create and update users from a file, with the password hashes of the product')
    .option(
      '--format <format>',
      'jsonl or csv (default: by the name of the file; jsonl for stdin)',
      choice('--format', { jsonl: 'jsonl', csv: 'csv' }),
    )
    .option('--issuer <issuer>', 'issuer of users with an external_id and no issuer, as in LOGIN_ISSUER')
    .option('--replace-passwords', 'replace passwords that users have here (default: keep them)')
    .option('--dry-run', 'check every line, and change nothing')
    .jsonOption()
    .notes(
      'Safe to repeat: users are found by issuer and external_id, or by email where there is none, and updated. Reports each bad line ' +
        'on stderr and goes on.\nExit code 3: some lines were not imported. The fields: docs/users.md',
    )
    .examples('user import users.jsonl --issuer https://login.example.com', 'user import users.csv --dry-run')
    .action(importUsers);
}

async function importUsers(file: string, { json, ...options }: Options): Promise<void> {
  const format = formatOf(file, options.format);
  readSettings(ChangeSettings);
  const { input, bytes } = await open(file);
  const bar = bytes === null ? null : progressBar('KiB');
  const bad: { line: number; problems: string[] }[] = [];
  const report = ({ line, problems: found }: BadLine): void => {
    const problems = describeProblems({ problems: found }, (name) => name.slice(0, MAX_NAME));
    if (bad.length < MAX_BAD_LINES) bad.push({ line, problems });
    process.stderr.write(`line ${line}: ${printable(problems.join('; '))}\n`);
  };
  const began = performance.now();
  const timer = setInterval(
    () => bar?.show(Math.round(input.bytesRead / 1024), Math.round((bytes ?? 0) / 1024)),
    200,
  );
  const change = await withAdministration(ChangeSettings, ({ users }) =>
    users.import(actor(), input.stream, { ...options, format }, report),
  ).finally(() => {
    clearInterval(timer);
    bar?.end();
  });
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  const { dryRun = false } = options;
  await printChange(change, (counts) =>
    printResult({ json }, resultOf(counts, bad, dryRun), () => printCounts(counts, seconds, dryRun)),
  );
  if (change.result.failed > 0) throw new IncompleteError();
}

function resultOf(counts: ImportCounts, bad: readonly object[], dryRun: boolean): object {
  const { created, updated, unchanged, failed, passwordsKept } = counts;
  return {
    created,
    updated,
    unchanged,
    failed,
    passwords_kept: passwordsKept,
    dry_run: dryRun,
    bad_lines: bad,
  };
}

function printCounts(counts: ImportCounts, seconds: number, dryRun: boolean): void {
  const { created, updated, unchanged, passwordsKept, failed } = counts;
  const done = dryRun ? 'Would have created' : 'Created';
  printLine(
    `${done} ${counted(created, 'user')} and updated ${updated} in ${seconds} s; ${unchanged} were up to date.`,
  );
  if (passwordsKept > 0)
    printLine(`${counted(passwordsKept, 'user')} kept another password: --replace-passwords replaces it.`);
  if (failed > 0) printLine(`${counted(failed, 'line')} not imported: see above.`);
}

function formatOf(file: string, given: string | undefined): string {
  if (given !== undefined) return given;
  const format = file === '-' ? 'jsonl' : FORMATS[extname(file).toLowerCase()];
  if (format === undefined) throw new InputError(['--format is missing: jsonl or csv']);
  return format;
}

/** `bytes` is null if the size is unknown. */
async function open(
  file: string,
): Promise<{ input: { stream: Readable; bytesRead: number }; bytes: number | null }> {
  if (file === '-') return { input: { stream: process.stdin, bytesRead: 0 }, bytes: null };
  try {
    const stats = await stat(file);
    if (stats.isDirectory()) throw new Error('it is a directory');
    const stream = createReadStream(file, { highWaterMark: 256 * 1024 });
    const input = {
      stream,
      get bytesRead() {
        return stream.bytesRead;
      },
    };
    return { input, bytes: stats.isFile() ? stats.size : null };
  } catch (error) {
    throw new InputError([`cannot read ${quoted(file)}: ${(error as Error).message}`]);
  }
}
