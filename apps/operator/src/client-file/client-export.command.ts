import { rename, rm, writeFile } from 'node:fs/promises';
import { unknownClient } from '../client/client.service.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { counted, printLine, printResult, type JsonOption } from '../command-line/output.js';
import { withStores } from '../connections/database.connection.js';
import { readSettings } from '../settings/read-settings.js';
import { DatabaseSettings } from '../settings/settings.js';
import { clientFile, entryOf, VERSION } from './client-file.js';

export function clientExportCommand(): OperatorCommand {
  return new OperatorCommand('export')
    .argument('[ids...]', 'client_ids (default: every application)')
    .description('print applications as YAML that can be kept in git and imported; secrets as hashes')
    .option('--output <file>', 'write it into this file, which only you can read')
    .jsonOption('print JSON, which can be imported as well; with --output, what was written')
    .notes(
      `\
Sorted, and always the same text for the same applications. Keep it where only operators can read it: nobody can make a \
secret of its hash, but a file that is changed before it is imported lets its author in.`,
    )
    .examples(
      'client export > clients.yaml',
      'client export sc_abcdefghijklmnopqrstuvwx --output calendar.yaml',
    )
    .action(exportClients);
}

async function exportClients(
  ids: readonly string[],
  { output, ...options }: JsonOption & { output?: string },
): Promise<void> {
  const clients = await withStores(readSettings(DatabaseSettings), ({ transfers }) =>
    transfers.read(ids.length > 0 ? ids : undefined),
  );
  const found = new Set(clients.map(({ clientId }) => clientId));
  const unknown = ids.find((id) => !found.has(id));
  if (unknown !== undefined) throw unknownClient(unknown);
  const text = clientFile(clients);
  if (output === undefined)
    return printResult(options, { version: VERSION, clients: clients.map(entryOf) }, () =>
      printLine(text.trimEnd()),
    );
  await writeWhole(output, text);
  printResult(options, { file: output, clients: clients.length }, () =>
    printLine(`Wrote ${counted(clients.length, 'application')} to ${output}`),
  );
}

/** Writes a file that is never half written: an import may read it at any time. */
async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
