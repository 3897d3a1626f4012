import { nameProblems, Rule, scopeProblems } from './registration-rules.js';

/** Options of `client update`; what its redirect URIs must be depends on the client, see `applyChanges`. */
export class ClientChangesDto {
  @Rule(({ name }: ClientChangesDto) =>
    name === undefined ? [] : nameProblems(name, 'users see it when they allow access'),
  )
  name?: string;

  @Rule(({ scope }: ClientChangesDto) => {
    if (scope === undefined) return [];
    return scope.length === 0 ? ['--scope is empty: give at least one'] : scopeProblems(scope);
  })
  scope?: string[];

  /** May be empty: then none is optional any more. */
  optionalScope?: string[];

  @Rule(({ requirePar }: ClientChangesDto) => booleanProblems('--require-par', requirePar))
  requirePar?: string;

  @Rule(({ firstParty }: ClientChangesDto) => booleanProblems('--first-party', firstParty))
  firstParty?: string;

  /** The file, or `none`. */
  logo?: string;

  addRedirectUri: string[] = [];

  @Rule(({ addRedirectUri, removeRedirectUri, ...others }: ClientChangesDto) =>
    addRedirectUri.length + removeRedirectUri.length === 0 &&
    Object.values(others).every((value) => value === undefined)
      ? ['nothing to change: give one of the options of client update --help']
      : [],
  )
  removeRedirectUri: string[] = [];
}

function booleanProblems(flag: string, value: string | undefined): string[] {
  return value === undefined || value === 'true' || value === 'false'
    ? []
    : [`${flag} must be true or false`];
}
