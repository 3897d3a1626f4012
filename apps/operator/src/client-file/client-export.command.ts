import { counted } from '#operations/wording.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printLine, printRaw, printResult } from '../command-line/output.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings } from '../settings/settings.js';
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
  const { content, text } = await withAdministration(DatabaseSettings, ({ clientExport }) =>
    clientExport.export(ids),
  );
  if (output === undefined) return printResult(options, content, () => printRaw(text.trimEnd()));
  await writeClientFile(output, text, force);
  const count = content.clients.length;
  printResult(options, { file: output, clients: count }, () =>
    printLine(`Wrote ${counted(count, 'application')} to ${output}`),
  );
}
