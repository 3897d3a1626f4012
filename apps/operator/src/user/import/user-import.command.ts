import { counted, printable, quoted } from '#administration/text.js';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { progressBar } from '../../command-line/dialog.js';
import { IncompleteError, InputError } from '../../command-line/input.js';
import { OperatorCommand } from '../../command-line/operator-command.js';
import { printLine, printResult, type JsonOption } from '../../command-line/output.js';
import { withStores } from '../../connections/database.connection.js';
import { recordCommand } from '../../audit/record-command.js';
import { readSettings } from '../../settings/read-settings.js';
import { ChangeSettings } from '../../settings/settings.js';
import type { BadLine, ImportCounts } from './import-users.js';
import type { Format } from './read-records.js';

interface Options extends JsonOption {
  format?: string;
  issuer?: string;
  replacePasswords?: boolean;
  dryRun?: boolean;
}

/** Limit of `bad_lines` with --json; stderr has all of them. */
const MAX_BAD_LINES = 1000;
const FORMATS: Readonly<Record<string, Format>> = { '.csv': 'csv', '.jsonl': 'jsonl', '.ndjson': 'jsonl' };

export function userImportCommand(): OperatorCommand {
  return new OperatorCommand('import')
    .argument('<file>', 'JSON lines (.jsonl, .ndjson) or CSV (.csv); - for stdin')
    .description('create and update users from a file, with the password hashes of the product')
    .option('--format <format>', 'jsonl or csv (default: by the name of the file; jsonl for stdin)')
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
  if (options.issuer !== undefined && (options.issuer === '' || options.issuer.length > 255))
    throw new InputError(['--issuer must be 1 to 255 characters']);
  const settings = readSettings(ChangeSettings);
  const { input, bytes } = await open(file);
  const { UserImport } = await import('./import-users.js');
  const bar = bytes === null ? null : progressBar('KiB');
  const bad: BadLine[] = [];
  const report = (line: BadLine): void => {
    if (bad.length < MAX_BAD_LINES) bad.push(line);
    process.stderr.write(`line ${line.line}: ${printable(line.problems.join('; '))}\n`);
  };
  const { issuer = null, replacePasswords = false, dryRun = false } = options;
  const began = performance.now();
  const counts = await withStores(settings, async ({ external }) => {
    const users = new UserImport(external, { format, issuer, replacePasswords, dryRun }, report);
    const timer = setInterval(
      () => bar?.show(Math.round(input.bytesRead / 1024), Math.round((bytes ?? 0) / 1024)),
      200,
    );
    try {
      await users.run(input.stream);
    } catch (error) {
      if (error instanceof InputError) throw error;
      const { message } = error as Error;
      throw new Error(
        `stopped after line ${users.lastLine}: ${message}. Run the same command again: it continues`,
        {
          cause: error,
        },
      );
    } finally {
      clearInterval(timer);
      bar?.end();
    }
    return users.counts;
  });
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  printResult({ json }, resultOf(counts, bad, dryRun), () => printCounts(counts, seconds, dryRun));
  const { created, updated, failed } = counts;
  if (!dryRun && created + updated > 0)
    await recordCommand(settings, { type: 'user.imported', detail: { created, updated, failed } });
  if (counts.failed > 0) throw new IncompleteError();
}

const resultOf = ({ passwordsKept, ...counts }: ImportCounts, bad: readonly BadLine[], dryRun: boolean) => ({
  ...counts,
  passwords_kept: passwordsKept,
  dry_run: dryRun,
  bad_lines: bad,
});

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

function formatOf(file: string, given: string | undefined): Format {
  if (given === 'csv' || given === 'jsonl') return given;
  if (given !== undefined) throw new InputError(['--format must be jsonl or csv']);
  const format = file === '-' ? 'jsonl' : FORMATS[extname(file).toLowerCase()];
  if (format === undefined) throw new InputError(['--format is missing: jsonl or csv']);
  return format;
}

/** @returns `bytes`: the size; null if it is unknown */
async function open(
  file: string,
): Promise<{ input: { stream: Readable; bytesRead: number }; bytes: number | null }> {
  if (file === '-') return { input: { stream: process.stdin, bytesRead: 0 }, bytes: null };
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new Error('it is a directory');
    const stream = createReadStream(file, { highWaterMark: 256 * 1024 });
    const input = {
      stream,
      get bytesRead() {
        return stream.bytesRead;
      },
    };
    return { input, bytes: found.isFile() ? found.size : null };
  } catch (error) {
    throw new InputError([`cannot read ${quoted(file)}: ${(error as Error).message}`]);
  }
}
