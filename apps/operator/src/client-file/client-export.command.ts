import { identify, unknownClient } from '../client/client.service.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { counted, printLine, printRaw, printResult, type JsonOption } from '../command-line/output.js';
import { withStores } from '../connections/database.connection.js';
import { readSettings } from '../settings/read-settings.js';
import { DatabaseSettings } from '../settings/settings.js';
import { clientFile, entryOf, VERSION } from './client-file.js';
import { writeClientFile } from './write-client-file.js';

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
  const clients = await withStores(readSettings(DatabaseSettings), async (stores) => {
    if (ids.length === 0) return stores.transfers.read();
    const wanted = await Promise.all(ids.map((id) => identify(stores, id)));
    const found = await stores.transfers.read([...new Set(wanted)]);
    const unknown = wanted.find((id) => !found.some(({ clientId }) => clientId === id));
    if (unknown !== undefined) throw unknownClient(unknown);
    return found;
  });
  const text = clientFile(clients);
  if (output === undefined)
    return printResult(options, { version: VERSION, clients: clients.map(entryOf) }, () =>
      printRaw(text.trimEnd()),
    );
  await writeClientFile(output, text, force);
  printResult(options, { file: output, clients: clients.length }, () =>
    printLine(`Wrote ${counted(clients.length, 'application')} to ${output}`),
  );
}
