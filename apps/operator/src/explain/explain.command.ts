import { quoted } from '#administration/text.js';
import type { AuditReader, AuditStreamState } from '#audit/reader.js';
import { unknownClient } from '#administration/client/client-lookup.js';
import { clientIdInTrail } from '../client/client-argument.js';
import { progressBar } from '../command-line/dialog.js';
import { InputError } from '../command-line/input.js';
import { MOMENT, parseTime } from '../command-line/moment.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { type JsonOption, printResult } from '../command-line/output.js';
import { withAuditTrail } from '../connections/audit-trail.connection.js';
import { readSettings } from '../settings/read-settings.js';
import { ChangeSettings } from '../settings/settings.js';
import { markedText } from './difference.js';
import { printExplanation, printSummary } from './explain.report.js';
import { explainReference, type Found, type Progress, summarize } from './explain.service.js';
import { GrantOwners } from './grant-owners.js';
import { referenceIn } from './reference.js';

interface Options extends JsonOption {
  readonly client?: string;
  readonly since?: string;
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
    throw new InputError(['give a reference, or --client with the client_id or the name of an application']);
  if (text === undefined && client !== undefined) return explainClient(client, since, { json });
  if (since !== undefined)
    throw new InputError(['--since needs --client: a reference is searched in the whole audit trail']);
  const reference = referenceIn(text ?? '');
  await withTrail(async ({ reader, owners, progress, end }) => {
    const found = await explainReference(reader, owners, reference, progress);
    end();
    if (found.explanation === null) throw unknownReference(reference, found.similar, await reader.streams());
    const { explanation, around, uses } = found;
    printResult({ json }, asJson(explanation, around, uses), () =>
      printExplanation(explanation, around, uses),
    );
  });
}

async function explainClient(idOrName: string, text = '1h', options: JsonOption): Promise<void> {
  const since = parseTime(text);
  if (!since) throw new InputError([`--since ${quoted(text)} is not a time: give ${MOMENT}`]);
  const clientId = await clientIdInTrail(readSettings(ChangeSettings), idOrName);
  await withTrail(async ({ reader, owners, progress, end }) => {
    const summary = await summarize(reader, owners, { clientId, since }, progress);
    end();
    if (
      summary.refused + summary.logouts + summary.succeeded === 0 &&
      (await owners.client(clientId)) === null
    )
      throw unknownClient(clientId);
    const result = { client_id: clientId, since: since.toISOString(), ...summary };
    printResult(options, result, () => printSummary(summary, { clientId, since }));
  });
}

/** @param work calls `end` before it prints, to remove the progress bar */
async function withTrail(
  work: (sources: {
    reader: AuditReader;
    owners: GrantOwners;
    progress: Progress;
    end: () => void;
  }) => Promise<void>,
): Promise<void> {
  const settings = readSettings(ChangeSettings);
  const bar = progressBar('events read');
  try {
    await withAuditTrail(settings, (reader) =>
      work({
        reader,
        owners: new GrantOwners(settings),
        progress: (read, total) => bar.show(read, total),
        end: () => bar.end(),
      }),
    );
  } finally {
    bar.end();
  }
}

function unknownReference(
  reference: string,
  similar: readonly string[],
  streams: readonly AuditStreamState[],
): InputError {
  const kept = streams
    .filter(({ first }) => first !== null)
    .map(({ stream, first }) => `${stream} since ${first?.toISOString()}`);
  return new InputError([
    `no event has the reference ${quoted(reference)}`,
    ...(similar.length > 0 ? [`similar references, in case of a typo: ${similar.join(', ')}`] : []),
    kept.length > 0
      ? `the request may be older than the audit trail, which has ${kept.join(', ')}`
      : 'the audit trail is empty: do the services run with this NATS_URL, and does NATS have JetStream?',
    'it may be from another installation, or less than a second old: then run this again',
    'requests that succeed without an event, and those refused under overload, are only in the log of the service',
  ]);
}

function asJson(
  {
    reference,
    event,
    others,
    clientId,
    userId,
    grantId,
    title,
    meaning,
    comparison,
    remedies,
  }: Found['explanation'] & object,
  around: readonly object[],
  uses: readonly object[],
): object {
  return {
    reference,
    client_id: clientId,
    user_id: userId,
    grant_id: grantId,
    check: event.check ?? null,
    title,
    meaning,
    values: comparison.values,
    differences: comparison.differences.map((difference) => ({
      sent: difference.sent,
      expected: difference.expected,
      marked: markedText(difference),
    })),
    remedies,
    event,
    other_events: others,
    around,
    uses,
  };
}
