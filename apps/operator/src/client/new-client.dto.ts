import { DEFAULT_SCOPE } from '#oauth/scope.js';
import {
  MAX_REDIRECT_URIS,
  nameProblems,
  optionalScopeProblems,
  redirectUriProblems,
  Rule,
  scopeProblems,
} from './registration-rules.js';

/** Options of `client create`. */
export class NewClientDto {
  @Rule(({ name }: NewClientDto) => nameProblems(name, 'users see it when they allow access'))
  name: string;

  public?: boolean;

  requirePar?: boolean;

  firstParty?: boolean;

  @Rule(problemsOfRedirectUris)
  redirectUri: string[] = [];

  @Rule(({ scope }: NewClientDto) =>
    scope.length === 0 ? ['--scope is empty: leave it out for profile:read'] : scopeProblems(scope),
  )
  scope: string[] = [DEFAULT_SCOPE];

  @Rule(({ scope, optionalScope }: NewClientDto) => optionalScopeProblems(optionalScope, scope))
  optionalScope: string[] = [];
}

function problemsOfRedirectUris({ redirectUri: uris, public: isPublic }: NewClientDto): string[] {
  if (uris.length === 0) {
    return [
      '--redirect-uri is missing: give the address users return to, like https://app.example.com/callback',
    ];
  }
  if (uris.length > MAX_REDIRECT_URIS)
    return [`--redirect-uri is given more than ${MAX_REDIRECT_URIS} times: give fewer`];
  return redirectUriProblems('--redirect-uri', uris, isPublic ? 'public' : 'confidential');
}
