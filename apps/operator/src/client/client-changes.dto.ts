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

  addRedirectUri: string[] = [];

  @Rule(({ name, scope, addRedirectUri, removeRedirectUri }: ClientChangesDto) =>
    name === undefined && scope === undefined && addRedirectUri.length + removeRedirectUri.length === 0
      ? ['nothing to change: give --name, --scope, --add-redirect-uri or --remove-redirect-uri']
      : [],
  )
  removeRedirectUri: string[] = [];
}
