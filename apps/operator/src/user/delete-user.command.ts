import { CommandRunner, Help, SubCommand } from 'nest-commander';
import { Flags } from '../command-line/flags.js';
import { InputError } from '../command-line/input.error.js';
import { invocation } from '../command-line/invocation.js';
import { counted, printJson, printLine } from '../command-line/output.js';
import { RevocationApplier } from '../grant/revocation-applier.js';
import { DirectoryConnection } from '../settings/directory.connection.js';
import { SettingsReader } from '../settings/settings.reader.js';
import { ChangeSettings } from '../settings/settings.js';
import { findUser } from './find-user.js';

interface Options {
  yes?: boolean;
  json?: boolean;
}

@SubCommand({
  name: 'delete',
  arguments: '<login>',
  argsDescription: { login: 'the email address or user name' },
  description: 'delete a user, end their sessions and revoke every access they granted',
})
@Flags({ '--yes': 'yes, delete them', '--json': 'print JSON' })
export class DeleteUserCommand extends CommandRunner {
  constructor(
    private readonly settings: SettingsReader,
    private readonly directory: DirectoryConnection,
    private readonly revocations: RevocationApplier,
  ) {
    super();
  }

  async run([login = '']: string[], { yes = false, json = false }: Options): Promise<void> {
    if (!yes) {
      throw new InputError([
        '--yes is missing: this deletes the user, revokes every access they granted, and cannot be undone',
      ]);
    }
    const { NATS_URL } = this.settings.read(ChangeSettings);
    const { UserAccountStore } = await import('#database/user/user-account.store.js');
    const { id, username, first, revokedGrants } = await this.directory.use(async (stores) => {
      const accounts = stores.get(UserAccountStore);
      const user = await findUser(stores, login);
      const whose = { user_id: user.id };
      // Delete the row last: after a failure before that, the login still finds the user and the command can be repeated.
      const disabled = await accounts.disable(user.id);
      const state = disabled ? 'is disabled, and not deleted yet' : 'is deleted';
      await this.revocations.apply(NATS_URL, whose, `${user.username} ${state}`);
      const deleted = await accounts.delete(user.id);
      // The user was enabled and allowed something between the two steps.
      if (deleted?.revokedGrants)
        await this.revocations.apply(NATS_URL, whose, `${user.username} is deleted`);
      const revoked = (disabled?.revokedGrants ?? 0) + (deleted?.revokedGrants ?? 0);
      return { ...user, first: deleted !== null, revokedGrants: revoked };
    });
    if (json)
      return printJson({
        id,
        username,
        deleted: true,
        deleted_before: !first,
        revoked_grants: revokedGrants,
      });
    const grants = counted(revokedGrants, 'grant');
    if (first) printLine(`Deleted ${username} and revoked ${grants}: no session or token works any more.`);
    else printLine(`${username} was deleted in the meantime; no session or token works any more.`);
  }

  @Help('after')
  examples(): string {
    return `
Safe to repeat: when a service did not answer, the user is disabled and not deleted yet; run it again, and it continues.

Example:
  $ ${invocation()} user delete ada@example.com --yes`;
  }
}
