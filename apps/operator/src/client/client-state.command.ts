import { counted, quoted } from '#operations/wording.js';
import { confirmed } from '../command-line/prompts.js';
import { InputError } from '../command-line/flags.js';
import { OperatorCommand } from '../command-line/operator-command.js';
import { confirmedChange, makeChange } from '../command-line/change.js';
import { type JsonOption, printLine } from '../command-line/output.js';
import { CLIENT } from './client-lookup.command.js';

export function disableCommand(): OperatorCommand {
  return new OperatorCommand('disable')
    .argument('<id>', CLIENT)
    .description('refuse an application and all its tokens, until it is enabled again')
    .option('--yes', 'even if operators log in to the console by it')
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

async function disable(
  idOrName: string,
  { yes = false, ...options }: JsonOption & { yes?: boolean },
): Promise<void> {
  await makeChange(
    options,
    ({ clients }, actor) =>
      confirmedChange(yes, (isConfirmed) => clients.disable(actor, idOrName, undefined, isConfirmed)),
    (result) => {
      const { client_id: id, disabled_before: before } = result;
      printLine(
        `${before ? `${id} was disabled before` : `Disabled ${id}`}: none of its tokens works until you enable it.`,
      );
    },
  );
}

async function enable(idOrName: string, options: JsonOption): Promise<void> {
  await makeChange(
    options,
    ({ clients }, actor) => clients.enable(actor, idOrName),
    (result) =>
      printLine(
        result.disabled_before
          ? `Enabled ${result.client_id}: its tokens work again, except those that were revoked or have expired.`
          : `${result.client_id} was not disabled.`,
      ),
  );
}

async function remove(
  idOrName: string,
  { yes = false, ...options }: JsonOption & { yes?: boolean },
): Promise<void> {
  await makeChange(
    options,
    async ({ clients }, actor) => {
      if (!yes) {
        // Shows the name as well, because ids look alike. A deleted client has no name.
        const { client_id: id, name } = await clients.identify(idOrName);
        const named = name === null ? quoted(id) : `${quoted(name)} (${id})`;
        const { grants, users } = await clients.countGrants(id);
        const owners = users === null ? '' : ` of ${counted(users, 'user')}`;
        const question = `Delete ${named} and revoke ${counted(grants, 'grant')}${owners}? This cannot be undone.`;
        if (!(await confirmed(false, question))) throw new InputError(['nothing was deleted']);
      }
      return confirmedChange(yes, (isConfirmed) => clients.delete(actor, idOrName, undefined, isConfirmed));
    },
    (result) =>
      printLine(
        result.deleted_before
          ? `${result.client_id} was already deleted; none of its tokens works any more.`
          : `Deleted ${result.client_id} and revoked ${counted(result.revoked_grants, 'grant')}: none of its tokens works any more.`,
      ),
  );
}
