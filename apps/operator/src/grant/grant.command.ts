import { counted } from '#operations/wording.js';
import { CLIENT } from '../client/client-lookup.command.js';
import { confirmed, progressBar } from '../command-line/prompts.js';
import { InputError } from '../command-line/flags.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { makeChange } from '../command-line/change.js';
import {
  asText,
  type JsonOption,
  printFields,
  printLine,
  printList,
  printPages,
  printResult,
} from '../command-line/output.js';
import { withAdministration } from '../connections/administration.js';
import { DatabaseSettings } from '../settings/settings.js';

export function grantCommand(): OperatorCommand {
  const grant = new OperatorCommand('grant')
    .description('access that users have granted to applications')
    .examples('grant list --help');

  grant
    .command('list')
    .description('list live grants, newest first, a page at a time')
    .option('--user <login>', 'only of this user: email address, user name, external_id, or id: and the id')
    .option('--client <id>', `only to this application: ${CLIENT}`)
    .option('--ended', 'revoked and expired grants as well')
    .option('--limit <number>', 'how many at most, 1 to 1000 (default: 100)', Number)
    .option('--cursor <cursor>', 'another page, as the list names it')
    .jsonOption('print a JSON array')
    .examples('grant list --user ada@example.com', 'grant list --client sc_abcdefghijklmnopqrstuvwx --ended')
    .action(list);

  grant
    .command('show')
    .argument('<id>', 'the id of a grant')
    .description('show a grant, even a revoked or expired one')
    .jsonOption()
    .examples('grant show GbWvlLZo4bRhl8YlZ3RoUh4Nm4dX1QyS0m0O8m3pKcA')
    .action(show);

  grant
    .command('revoke')
    .argument('[id]', 'the id of one grant')
    .description('revoke one grant, the grants of a user or of an application, or all')
    .option(
      '--user <login>',
      'every grant of this user: email address, user name, external_id, or id: and the id',
    )
    .option('--client <id>', `every grant to this application: ${CLIENT}`)
    .option('--all', 'every grant of every user')
    .option('--yes', 'revoke without a confirmation')
    .jsonOption()
    .notes(
      'None of their tokens works any more when the command ends. Safe to repeat: if a service did not answer, run it again, and it continues.',
    )
    .examples(
      'grant revoke GbWvlLZo4bRhl8YlZ3RoUh4Nm4dX1QyS0m0O8m3pKcA',
      'grant revoke --user ada@example.com --client sc_abcdefghijklmnopqrstuvwx --yes',
      'grant revoke --all',
    )
    .action(revoke);

  return grant;
}

async function list({ json, ...filter }: JsonOption): Promise<void> {
  const page = await withAdministration(DatabaseSettings, (operations) => operations.grants.list(filter));
  printList({ json }, page.items, 'No grants found.', [
    'id',
    ['user', ({ username, user_id: id }) => username ?? `${id} (deleted)`],
    ['client', ({ client_name: name }) => name],
    'created_at',
    ['last_used_on', ({ last_used_on: day }) => day ?? 'never'],
    ['state', ({ state }) => ({ text: state, style: state === 'live' ? 'green' : 'dim' })],
    'scope',
  ]);
  printPages(page);
}

async function show(id: string, options: JsonOption): Promise<void> {
  const grant = await withAdministration(DatabaseSettings, ({ grants }) => grants.find(id));
  printResult(options, grant, () => printFields(asText(grant)));
}

interface RevocationOptions extends JsonOption {
  readonly yes?: boolean;
  readonly user?: string;
  readonly client?: string;
  readonly all?: boolean;
}

async function revoke(
  id: string | undefined,
  { json, yes = false, ...selection }: RevocationOptions,
): Promise<void> {
  if (id !== undefined && Object.keys(selection).length === 0) return revokeOne(id, { json });
  const bar = progressBar('grants revoked');
  await makeChange(
    { json },
    async ({ grants }, actor) => {
      const live = await grants.countLive({ ...selection, ...(id !== undefined && { id }) });
      const question = `Revoke ${counted(live, 'live grant')}? This cannot be undone.`;
      if (!(await confirmed(yes, question))) throw new InputError(['nothing was revoked']);
      return grants
        .revokeAll(actor, selection, (revoked) => bar.show(revoked, live))
        .finally(() => bar.end());
    },
    (result) =>
      printLine(`Revoked ${counted(result.revoked_grants, 'grant')}: none of their tokens works any more.`),
  );
}

async function revokeOne(id: string, options: JsonOption): Promise<void> {
  await makeChange(
    options,
    ({ grants }, actor) => grants.revoke(actor, id),
    (result) =>
      printLine(
        result.revoked_before
          ? `${id} was already revoked; none of its tokens works any more.`
          : `Revoked ${id}: none of its tokens works any more.`,
      ),
  );
}
