import { counted, printable } from '#administration/text.js';
import type { AdministeredGrant } from '#database/grant/grant-administration.store.js';
import { CLIENT } from '../client/client-argument.js';
import { confirmed, progressBar } from '../command-line/dialog.js';
import { InputError, validated } from '../command-line/input.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { printFields, printLine, printResult, printTable, type JsonOption } from '../command-line/output.js';
import { readSettings } from '../settings/read-settings.js';
import { ChangeSettings, DatabaseSettings } from '../settings/settings.js';
import { GrantListDto, GrantRevocationDto } from './grant.dto.js';
import { findGrant, listGrants, revokeGrant, revokeGrants } from './grant.service.js';

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
    .option('--before <id>', 'only grants that are older than this one: the next page')
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

async function list({ json, ...options }: JsonOption): Promise<void> {
  const filter = validated(GrantListDto, options);
  const { page, more } = await listGrants(readSettings(DatabaseSettings), filter);
  const grants = page.map(describe);
  printResult({ json }, grants, () => {
    if (grants.length === 0) return printLine('No grants found.');
    printTable(
      ['id', 'user', 'client', 'created_at', 'last_used_on', 'state', 'scope'],
      grants.map((grant) => [
        grant.id,
        printable(grant.username ?? `${grant.user_id} (deleted)`),
        printable(grant.client_name),
        grant.created_at.slice(0, 10),
        grant.last_used_on ?? 'never',
        { text: grant.state, style: grant.state === 'live' ? 'green' : 'dim' },
        grant.scope,
      ]),
    );
    if (more) printLine(`\nFor the next page, add --before ${grants.at(-1)?.id}`);
  });
}

async function show(id: string, options: JsonOption): Promise<void> {
  const grant = describe(await findGrant(readSettings(DatabaseSettings), id));
  printResult(options, grant, () =>
    printFields(
      Object.fromEntries(
        Object.entries(grant).map(([name, value]) => [name, printable(String(value ?? 'none'))]),
      ),
    ),
  );
}

async function revoke(id: string | undefined, { json, ...options }: JsonOption): Promise<void> {
  const input = validated(GrantRevocationDto, { ...options, ...(id !== undefined && { id }) });
  const settings = readSettings(ChangeSettings);
  if (input.id !== undefined) {
    const revoked = await revokeGrant(settings, input.id);
    return printResult({ json }, { id: input.id, revoked: true, revoked_before: !revoked }, () =>
      printLine(
        revoked
          ? `Revoked ${input.id}: none of its tokens works any more.`
          : `${input.id} was already revoked; none of its tokens works any more.`,
      ),
    );
  }
  const bar = progressBar('grants revoked');
  const revoked = await revokeGrants(settings, input, {
    confirm: (live) => confirmed(input.yes, `Revoke ${counted(live, 'live grant')}? This cannot be undone.`),
    progress: (done, live) => bar.show(done, live),
  }).finally(() => bar.end());
  if (revoked === null) throw new InputError(['nothing was revoked']);
  printResult({ json }, { revoked_grants: revoked }, () =>
    printLine(`Revoked ${counted(revoked, 'grant')}: none of their tokens works any more.`),
  );
}

/** The id of a grant is not a secret: it is a hash, and no token contains it. */
function describe(grant: AdministeredGrant) {
  const { revokedAt, expiresAt } = grant;
  return {
    id: grant.id,
    user_id: grant.userId,
    username: grant.username,
    client_id: grant.clientId,
    client_name: grant.clientName,
    scope: grant.scope,
    state: revokedAt ? 'revoked' : expiresAt.getTime() < Date.now() ? 'expired' : 'live',
    created_at: grant.createdAt.toISOString(),
    last_used_on: grant.lastUsedOn,
    expires_at: expiresAt.toISOString(),
    revoked_at: revokedAt?.toISOString() ?? null,
  };
}
