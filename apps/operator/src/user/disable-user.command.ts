import { CommandRunner, Help, SubCommand } from 'nest-commander';
import { Flags } from '../command-line/flags.js';
import { invocation } from '../command-line/invocation.js';
import { counted, printJson, printLine } from '../command-line/output.js';
import { RevocationApplier } from '../grant/revocation-applier.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { ChangeSettings } from '../settings/settings.js';
import { findUser, unknownUser } from './find-user.js';

@SubCommand({
  name: 'disable',
  arguments: '<login>',
  argsDescription: { login: 'the email address or user name' },
  description: 'end every session of a user and every access they gave, and refuse their logins',
})
@Flags({ '--json': 'print JSON' })
export class DisableUserCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
    private readonly revocations: RevocationApplier,
  ) {
    super();
  }

  async run([login = '']: string[], { json = false }: { json?: boolean }): Promise<void> {
    const { NATS_URL } = this.settings.read(ChangeSettings);
    const { UserAccountStore } = await import('#database/user/user-account.store.js');
    const { id, username, first, revokedGrants } = await this.directory.use(async (stores) => {
      const user = await findUser(stores, login);
      const disabling = await stores.get(UserAccountStore).disable(user.id);
      if (!disabling) throw unknownUser(login);
      return { ...user, ...disabling };
    });
    await this.revocations.apply(NATS_URL, { user_id: id }, `${username} is disabled`);
    if (json)
      return printJson({
        id,
        username,
        disabled: true,
        disabled_before: !first,
        revoked_grants: revokedGrants,
      });
    const grants = counted(revokedGrants, 'grant');
    if (first) printLine(`Disabled ${username} and revoked ${grants}: no session or token works any more.`);
    else printLine(`${username} was disabled already; no session or token works any more.`);
  }

  @Help('after')
  examples(): string {
    return `
Safe to repeat: when a service did not answer, run it again, and it continues. "user enable" lets the user log in again.

Example:
  $ ${invocation()} user disable ada@example.com`;
  }
}
