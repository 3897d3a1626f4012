import type { ChangedRegistration, ClientRegistration } from '#database/client/client-registration.store.js';
import type { ClientLogo } from '#database/client/client-logo.js';
import type { ClientType } from '#database/client/client.js';
import { InputError } from '../command-line/input.error.js';
import { invocation } from '../command-line/invocation.js';
import type { ClientChangesDto } from './client-changes.dto.js';
import {
  MAX_REDIRECT_URIS,
  optionalScopeProblems,
  quoted,
  redirectUriProblems,
} from './registration-rules.js';

/**
 * A client's registration after `client update`. A scope that it loses is no optional one any more either.
 *
 * @param logo the new one, or null to remove it; undefined leaves it as it is
 * @throws InputError that names everything that cannot be done
 */
export function applyChanges(
  current: ClientRegistration,
  type: ClientType,
  { name = current.name, scope = [...current.scopes], ...changes }: ClientChangesDto,
  logo?: ClientLogo | null,
): ChangedRegistration {
  const { addRedirectUri: added, removeRedirectUri: removed } = changes;
  const kept = current.redirectUris.filter((uri) => !removed.includes(uri));
  const redirectUris = [...kept, ...added];
  const problems = [
    ...removed
      .filter((uri) => !current.redirectUris.includes(uri))
      .map(
        (uri) => `--remove-redirect-uri ${quoted(uri)} is not registered: see ${invocation()} client show`,
      ),
    ...added
      .filter((uri) => kept.includes(uri))
      .map((uri) => `--add-redirect-uri ${quoted(uri)} is registered already: leave it out`),
    ...redirectUriProblems('--add-redirect-uri', added, type),
    ...optionalScopeProblems(changes.optionalScope ?? [], scope),
  ];
  if (redirectUris.length === 0)
    problems.push('no redirect URI would be left: add the new one in the same command');
  if (redirectUris.length > MAX_REDIRECT_URIS)
    problems.push(`more than ${MAX_REDIRECT_URIS} redirect URIs: remove some in the same command`);
  if (problems.length > 0) throw new InputError(problems);
  const { requirePar, firstParty, optionalScope = current.optionalScopes } = changes;
  return {
    name,
    redirectUris,
    scopes: scope,
    optionalScopes: optionalScope.filter((optional) => scope.includes(optional)),
    requirePar: requirePar === undefined ? current.requirePar : requirePar === 'true',
    firstParty: firstParty === undefined ? current.firstParty : firstParty === 'true',
    ...(logo !== undefined && { logo }),
  };
}
