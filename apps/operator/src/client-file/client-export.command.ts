import { chmod, link, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { counted } from '#operations/wording.js';
import { InputError } from '../command-line/flags.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printLine, printRaw, printResult } from '../command-line/output.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings } from '../settings/settings.js';

const TITLE = ' Applications of the authorization service, written by "operator client export"';

const HEADER = `#${TITLE}`;

const COMMENT = `\
${TITLE} and read by "operator client import".
 Secrets are SHA-256 hashes. A secret that is left out of a list is revoked; without "secrets" all stay as they are.
 An application has secrets, or public keys: "jwks", or "jwks_uri".
 The header of the receiver at "events_url" is a secret and not in this file: set it with --events-authorization.`;

/**
 * Writes a draft and moves it into place, so that an import never reads half a file.
 * @throws InputError if the path is not a file, or the file must not be replaced
 */
async function writeClientFile(file: string, text: string, force: boolean): Promise<void> {
  // Replaces the target of a symbolic link, not the link.
  const target = await realpath(file).catch(() => file);
  const mode = await modeOf(target);
  if (mode !== null && !force && !(await isReplaceable(target))) throw refused(file);
  const draft = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    if (mode === null) await createAs(draft, target, file);
    else {
      await chmod(draft, mode);
      await rename(draft, target);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** @returns null if the file does not exist */
async function modeOf(target: string): Promise<number | null> {
  const stats = await stat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stats && !stats.isFile()) throw new InputError([`--output ${target} is not a file: name a file`]);
  return stats && stats.mode & 0o777;
}

async function isReplaceable(target: string): Promise<boolean> {
  const file = await open(target);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0);
    return bytesRead === 0 || buffer.toString() === HEADER;
  } finally {
    await file.close();
  }
}

/** Links the draft instead of renaming it, because a link never replaces a file that another process has created. */
async function createAs(draft: string, target: string, file: string): Promise<void> {
  await link(draft, target).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? refused(file) : error;
  });
}

const refused = (file: string): InputError =>
  new InputError([
    `--output ${file} is not an earlier export, and is not overwritten: name another file, or give --force`,
  ]);

export function clientExportCommand(): OperatorCommand {
  return new OperatorCommand('export')
    .argument('[ids...]', 'client_ids or unique names (default: every application)')
    .description('print applications as YAML that can be kept in git and imported; secrets as hashes')
    .option('--output <file>', 'write to this file: a new one, which only you can read, or an earlier export')
    .option('--force', 'replace any existing file of --output')
    .jsonOption('print JSON, which can be imported as well; with --output, what was written')
    .notes(
      `\
Sorted, and always the same text for the same applications. Keep it where only operators can read it: a \
hash does not reveal the secret, but anyone who can change the file before an import can gain access.`,
    )
    .examples(
      'client export > clients.yaml',
      'client export sc_abcdefghijklmnopqrstuvwx --output calendar.yaml',
    )
    .action(exportClients);
}

async function exportClients(
  ids: readonly string[],
  { output, force = false, ...options }: JsonOption & { output?: string; force?: boolean },
): Promise<void> {
  const { content, text } = await withAdministration(DatabaseSettings, ({ clientExport }) =>
    clientExport.export(COMMENT, ids),
  );
  if (output === undefined) return printResult(options, content, () => printRaw(text.trimEnd()));
  await writeClientFile(output, text, force);
  const count = content.clients.length;
  printResult(options, { file: output, clients: count }, () =>
    printLine(`Wrote ${counted(count, 'application')} to ${output}`),
  );
}
