import { confirmed } from '../command-line/dialog.js';
import { InputError, quoted } from '../command-line/input.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { counted, printLine, printResult, type JsonOption } from '../command-line/output.js';
import { readSettings } from '../settings/read-settings.js';
import { ChangeSettings } from '../settings/settings.js';
import { CLIENT, clientIdOf, deleteClient, disableClient, enableClient, nameOf } from './client.service.js';

export function disableCommand(): OperatorCommand {
  return new OperatorCommand('disable')
    .argument('<id>', CLIENT)
    .description('refuse an application and all its tokens, until it is enabled again')
    .jsonOption()
    .notes(
      `\
Within a second none of its tokens works, it gets no new ones, and users who come from it see an error page. Grants \
are kept, and work again once the application is enabled. Safe to repeat.`,
    )
    .examples('client disable sc_abcdefghijklmnopqrstuvwx')
    .action(disable);
}

export function enableCommand(): OperatorCommand {
  return new OperatorCommand('enable')
    .argument('<id>', CLIENT)
    .description('enable a disabled application')
    .jsonOption()
    .notes('Its tokens work again, except those that were revoked or have expired meanwhile. Safe to repeat.')
    .examples('client enable sc_abcdefghijklmnopqrstuvwx')
    .action(enable);
}

export function deleteCommand(): OperatorCommand {
  return new OperatorCommand('delete')
    .argument('<id>', CLIENT)
    .description('delete an application and revoke all its grants')
    .option('--yes', 'delete without a confirmation')
    .jsonOption()
    .notes('Safe to repeat: if a service did not answer, run it again, and it continues.')
    .examples('client delete sc_abcdefghijklmnopqrstuvwx --yes')
    .action(remove);
}

async function disable(idOrName: string, options: JsonOption): Promise<void> {
  const settings = readSettings(ChangeSettings);
  const clientId = await clientIdOf(settings, idOrName);
  const changed = await disableClient(settings, clientId);
  printResult(options, { client_id: clientId, disabled: true, disabled_before: !changed }, () =>
    printLine(
      `${changed ? `Disabled ${clientId}` : `${clientId} was disabled before`}: none of its tokens works until you enable it.`,
    ),
  );
}

async function enable(idOrName: string, options: JsonOption): Promise<void> {
  const settings = readSettings(ChangeSettings);
  const clientId = await clientIdOf(settings, idOrName);
  const changed = await enableClient(settings, clientId);
  printResult(options, { client_id: clientId, disabled: false, disabled_before: changed }, () =>
    printLine(
      changed
        ? `Enabled ${clientId}: its tokens work again, except those that were revoked or have expired.`
        : `${clientId} was not disabled.`,
    ),
  );
}

async function remove(idOrName: string, { yes, ...options }: JsonOption & { yes?: boolean }): Promise<void> {
  const settings = readSettings(ChangeSettings);
  const clientId = await clientIdOf(settings, idOrName);
  if (!yes) {
    // Shows the name as well, because ids look alike. A deleted client has no name.
    const name = await nameOf(settings, clientId);
    const named = name === null ? quoted(clientId) : `${quoted(name)} (${clientId})`;
    const question = `Delete ${named} and revoke all its grants? This cannot be undone.`;
    if (!(await confirmed(false, question))) throw new InputError(['nothing was deleted']);
  }
  const { first, revokedGrants } = await deleteClient(settings, clientId);
  const result = {
    client_id: clientId,
    deleted: true,
    deleted_before: !first,
    revoked_grants: revokedGrants,
  };
  printResult(options, result, () =>
    printLine(
      first
        ? `Deleted ${clientId} and revoked ${counted(revokedGrants, 'grant')}: none of its tokens works any more.`
        : `${clientId} was already deleted; none of its tokens works any more.`,
    ),
  );
}
