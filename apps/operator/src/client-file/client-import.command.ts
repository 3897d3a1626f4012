import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { ImportedClient, ImportResult } from '#clients/operations/file/client-import.service.js';
import type { Change } from '#operations/audit-trail.js';
import { counted, printable } from '#operations/wording.js';
import { actor, confirmedChange, printChange } from '../command-line/change.js';
import { InputError } from '../command-line/flags.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printLine, printRaw, printResult, warn } from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { type Style, styled } from '../command-line/table.js';
import { withAdministration } from '../connections/administration.js';
import { ChangeSettings, PreviewSettings, readSettings } from '../settings/settings.js';

interface Options extends JsonOption {
  dryRun?: boolean;
  yes?: boolean;
}

export function clientImportCommand(): OperatorCommand {
  return new OperatorCommand('import')
    .argument('<file>', 'YAML or JSON, as client export writes it; - for stdin')
    .description('create and update applications from a file: all of it, or nothing')
    .option('--dry-run', 'print what would change, and change nothing')
    .option('--yes', 'even if operators can then no longer log in to the console')
    .jsonOption()
    .notes(
      `\
Safe to repeat: importing the same file again changes nothing. Reports every problem with its line. Lists applications \
that are not in the file, and does not change them. A secret that is missing from "secrets" is revoked; without "secrets", all \
are kept.`,
    )
    .examples('client import clients.yaml --dry-run', 'client export | client import - --dry-run')
    .action(importFile);
}

async function importFile(file: string, { dryRun = false, yes = false, json }: Options): Promise<void> {
  // A dry run changes nothing, so it needs neither the services nor the audit trail.
  const shape = dryRun ? PreviewSettings : ChangeSettings;
  readSettings(shape);
  const content = await read(file);
  const source = file === '-' ? 'standard input' : file;
  const change = await withAdministration(
    shape,
    async ({ clientImport }): Promise<Change<ImportResult & { readonly diff?: string }>> => {
      if (!dryRun)
        return confirmedChange(yes, (isConfirmed) => clientImport.import(actor(), content, isConfirmed));
      const { warnings, ...result } = await clientImport.preview(content, source);
      return { result, announced: Promise.resolve(warnings) };
    },
  );
  await printChange(change, (result) => printImport(result, json));
}

function printImport(
  { changes, unchanged, others, diff }: ImportResult & { readonly diff?: string },
  json: boolean | undefined,
): void {
  const dryRun = diff !== undefined;
  const created = changes.filter(({ fields }) => fields === null);
  const updated = changes.filter(({ fields }) => fields !== null);
  const result = {
    dry_run: dryRun,
    created: created.map(({ client_id }) => client_id),
    updated: updated.map(({ client_id, fields }) => ({ client_id, fields })),
    unchanged,
    not_in_file: others.map(({ clientId }) => clientId),
    ...(dryRun && { diff }),
  };
  printResult({ json }, result, () => {
    if (dryRun && diff !== '') printRaw(`${diff.split('\n').map(coloured).join('\n')}\n`);
    printLine(
      `${dryRun ? 'Would create' : 'Created'} ${counted(created.length, 'application')}, ` +
        `${dryRun ? 'update' : 'updated'} ${updated.length}; ${unchanged} ${dryRun ? 'stay' : 'stayed'} the same.`,
    );
    if (!dryRun) for (const change of changes) printLine(`  ${lineOf(change)}`);
    if (others.length > 0)
      printLine(
        `Not in the file, and unchanged: ${others.map(({ clientId, name }) => `${clientId} (${printable(name)})`).join(', ')}`,
      );
  });
  for (const { client_id: id, needsSecret } of created)
    if (needsSecret)
      warn(`${id} has no secret. Create one:${commandToPaste('client', 'secret', 'rotate', id)}`);
}

async function read(file: string): Promise<string> {
  let content: Buffer;
  try {
    content = await (file === '-' ? buffer(process.stdin) : readFile(file));
  } catch (error) {
    throw new InputError([
      `cannot read ${file} (${(error as NodeJS.ErrnoException).code}): give the file of client export`,
    ]);
  }
  if (!isUtf8(content))
    throw new InputError([`${file} is not UTF-8: convert it, for example with iconv -f UTF-16 -t UTF-8`]);
  return content.toString();
}

const STYLES: Readonly<Record<string, Style>> = { '+': 'green', '-': 'red', '@': 'cyan' };

function coloured(line: string): string {
  const style = STYLES[line.charAt(0)];
  return style ? styled(style, printable(line)) : printable(line);
}

function lineOf({ client_id: id, name, fields }: ImportedClient): string {
  return fields === null
    ? `created ${id} (${printable(name)})`
    : `updated ${id} (${printable(name)}): ${fields.join(', ')}`;
}
