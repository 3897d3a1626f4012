import { MOMENT } from '#audit/operations/audit.dto.js';
import { explanationJson } from '#audit/operations/explain/explain.service.js';
import { warnOf } from '../command-line/change.js';
import { progressBar } from '../command-line/prompts.js';
import { InputError } from '../command-line/flags.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printResult } from '../command-line/output.js';
import { commandLine } from '../command-line/shell.js';
import { withAdministration } from '../connections/administration.js';
import { ChangeSettings } from '../settings/settings.js';
import { printExplanation, printSummary } from './explain.report.js';

interface Options extends JsonOption {
  readonly client?: string | undefined;
  readonly since?: string | undefined;
}

export function explainCommand(): OperatorCommand {
  const explain = new OperatorCommand('explain')
    .argument('[reference]', 'error_reference of an answer, or the reference on an error page')
    .description(
      'explain why a request was refused and who can fix it, or group all refused requests of an application',
    )
    .option(
      '--client <id>',
      'refused requests of this application, and logout tokens that it did not accept, grouped by cause',
    )
    .option('--since <time>', 'with --client: start of the period (default: 1h)')
    .jsonOption()
    .notes(
      `A time is ${MOMENT}.\n` +
        'Reads the audit trail, which keeps refusals for AUDIT_RETENTION_DAYS at most. A reference is found about a second after the answer.',
    )
    .examples('explain dhdpfs_iGBYa', 'explain --client sc_abcdefghijklmnopqrstuvwx --since 24h');
  // A reference may begin with a hyphen.
  explain.allowUnknownOption();
  return explain.action((reference: string | undefined, options: Options) => run(reference, options));
}

async function run(text: string | undefined, { json, client, since }: Options): Promise<void> {
  if ((text === undefined) === (client === undefined))
    throw new InputError(['give a reference, or --client with the client_id of an application']);
  if (text === undefined) return explainClient({ client, since }, { json });
  if (since !== undefined)
    throw new InputError(['--since needs --client: a reference is searched in the whole audit trail']);
  const bar = progressBar('events read');
  const { warnings, ...explained } = await withAdministration(ChangeSettings, ({ explain }) =>
    explain.explain(text, (read, total) => bar.show(read, total)),
  ).finally(() => bar.end());
  warnOf(warnings);
  printResult(
    { json },
    explanationJson(explained, (words) => commandLine(...words)),
    () => printExplanation(explained),
  );
}

async function explainClient(input: Pick<Options, 'client' | 'since'>, options: JsonOption): Promise<void> {
  const bar = progressBar('events read');
  const { warnings, ...summary } = await withAdministration(ChangeSettings, ({ histories }) =>
    histories.summarize(input, (read, total) => bar.show(read, total)),
  ).finally(() => bar.end());
  warnOf(warnings);
  printResult(options, summary, () => printSummary(summary));
}
