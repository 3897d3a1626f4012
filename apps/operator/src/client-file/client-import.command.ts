import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { createTwoFilesPatch } from 'diff';
import { recordCommand } from '../audit/record-command.js';
import { hasKeys } from '#oauth/client.js';
import { InputError } from '../command-line/input.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import {
  counted,
  printable,
  printLine,
  printRaw,
  printResult,
  warn,
  type JsonOption,
} from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { type Style, styled } from '../command-line/style.js';
import { publishClientChanged } from '../connections/nats.connection.js';
import { readScopes } from '../scope/read-scopes.js';
import { readSettings } from '../settings/read-settings.js';
import { ChangeSettings, DatabaseSettings } from '../settings/settings.js';
import { summaryOf } from './client-file.js';
import { importClients } from './client-import.service.js';
import { importEvents } from './import-events.js';
import type { ImportPlan, PlannedChange } from './import-plan.js';

interface Options extends JsonOption {
  dryRun?: boolean;
}

export function clientImportCommand(): OperatorCommand {
  return new OperatorCommand('import')
    .argument('<file>', 'YAML or JSON, as client export writes it; - for stdin')
    .description('create and update applications from a file: all of it, or nothing')
    .option('--dry-run', 'print what would change, and change nothing')
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

async function importFile(file: string, { dryRun = false, json }: Options): Promise<void> {
  const { value: catalogue } = readScopes();
  // A dry run changes nothing, so that it does not need the services or the audit trail.
  const change = dryRun ? null : readSettings(ChangeSettings);
  const settings = change ?? readSettings(DatabaseSettings);
  const plan = await importClients(settings, await read(file), { catalogue, dryRun });
  const { changes, unchanged, others } = plan;
  const created = changes.filter(({ before }) => before === null);
  const updated = changes.filter(({ before }) => before !== null);
  const diff = dryRun ? differences(plan, file) : undefined;
  const result = {
    dry_run: dryRun,
    created: created.map(({ after }) => after.clientId),
    updated: updated.map(({ after, fields }) => ({ client_id: after.clientId, fields })),
    unchanged,
    not_in_file: others.map(({ clientId }) => clientId),
    ...(diff !== undefined && { diff }),
  };
  printResult({ json }, result, () => {
    if (diff !== undefined && diff !== '') printRaw(`${diff.split('\n').map(coloured).join('\n')}\n`);
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
  for (const { after } of created)
    if (after.type === 'confidential' && !hasKeys(after) && after.secrets.length === 0)
      warn(
        `${after.clientId} has no secret. Create one:${commandToPaste('client', 'secret', 'rotate', after.clientId)}`,
      );
  if (change === null || changes.length === 0) return;
  await publishClientChanged(change.NATS_URL, ...changes.map(({ after }) => after.clientId));
  await recordCommand(change, ...changes.flatMap(importEvents));
}

async function read(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new InputError([
      `cannot read ${file} (${(error as NodeJS.ErrnoException).code}): give the file of client export`,
    ]);
  }
}

function differences({ changes }: ImportPlan, file: string): string {
  if (changes.length === 0) return '';
  const before = summaryOf(changes.flatMap((change) => change.before ?? []));
  const after = summaryOf(changes.map((change) => change.after));
  const name = file === '-' ? 'standard input' : file;
  const patch = createTwoFilesPatch('registered', name, before, after, '', '', { context: 3 });
  // The line before it only underlines the names.
  return patch.slice(patch.indexOf('---')).trimEnd();
}

const STYLES: Readonly<Record<string, Style>> = { '+': 'green', '-': 'red', '@': 'cyan' };

function coloured(line: string): string {
  const style = STYLES[line.charAt(0)];
  return style ? styled(style, printable(line)) : printable(line);
}

function lineOf({ before, after, fields }: PlannedChange): string {
  const { clientId, name } = after;
  return before === null
    ? `created ${clientId} (${printable(name)})`
    : `updated ${clientId} (${printable(name)}): ${fields.join(', ')}`;
}
