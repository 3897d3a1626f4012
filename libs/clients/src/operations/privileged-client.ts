import { type Actor, isOwner } from '#operations/audit-trail.js';
import type { Expected } from '#platform/validation/administration.error.js';
import { privilegedAccount } from '#users/operators/console-role.js';
import type { ClientCondition, ClientWithSecrets } from '../client.js';
import { isConsoleClient } from './console-client.js';

type PrivilegedFields = Pick<ClientWithSecrets, 'grantType' | 'redirectUris' | 'developerPortal'>;

/** Returns true for an API client, and for an application by which operators or owners log in. */
export function isPrivilegedClient(
  { grantType, redirectUris, developerPortal }: PrivilegedFields,
  consoleUrl: string,
): boolean {
  return grantType === 'client_credentials' || developerPortal || isConsoleClient(redirectUris, consoleUrl);
}

/**
 * Rejects a change of an account with the rights of operators: an API client, or an application by which operators or
 * owners log in. Otherwise the role `support` could lock out admins, and an API client could extend rights.
 * @throws AdministrationError of the kind `forbidden`
 */
export function checkPrivileges(actor: Actor, client: PrivilegedFields, consoleUrl: string): void {
  if (actor.role === 'admin') return;
  if (isPrivilegedClient(client, consoleUrl)) throw privilegedAccount(actor, 'application');
}

/** Restricts an owner to own clients, and names an operator in the history. */
export function conditionBy(actor: Actor, expected: Expected = {}): ClientCondition {
  return { ...expected, ...(isOwner(actor) ? { owner: actor.userId } : { operator: actor.name }) };
}
