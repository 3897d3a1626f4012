import { isWithinApi, MAX_AUDIENCE } from './resource.js';
import type { Locale } from './locale.js';
import { OAuthError } from './oauth-error.js';
import { LIMITS } from './parameters.js';

export type ScopeAccess = 'read' | 'write';

export interface Scope {
  readonly name: string;
  /** English, for operators and developers. */
  readonly description: string;
  /** Shown on the consent page. */
  readonly texts: Readonly<Partial<Record<Locale, string>> & { en: string }>;
  /** API origin; empty if no API is configured. */
  readonly resource: string;
  readonly isDefault: boolean;
  readonly access: ScopeAccess;
}

/** Scopes that applications can request, in display order. */
export class ScopeCatalogue {
  readonly names: readonly string[];
  /** Scopes of a request without `scope`, and of a client registered without scopes. */
  readonly defaults: readonly string[];
  private readonly byName: ReadonlyMap<string, Scope>;

  constructor(readonly scopes: readonly Scope[]) {
    this.names = scopes.map(({ name }) => name);
    this.defaults = scopes.filter(({ isDefault }) => isDefault).map(({ name }) => name);
    this.byName = new Map(scopes.map((scope) => [scope.name, scope]));
  }

  /** Returns null for an undeclared scope, such as a removed scope of an old grant. */
  find(name: string): Scope | null {
    return this.byName.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** Returns a catalogue that also has undeclared names. */
  with(names: readonly string[]): ScopeCatalogue {
    const added = names.map((name): Scope => {
      return { name, description: '', texts: { en: name }, resource: '', isDefault: false, access: 'read' };
    });
    return added.length === 0 ? this : new ScopeCatalogue([...this.scopes, ...added]);
  }

  ofResource(resource: string): string[] {
    return this.scopes.filter((scope) => scope.resource === resource).map(({ name }) => name);
  }

  /** Sorts names in the order of the catalogue, with undeclared names last. */
  inOrder(names: readonly string[]): string[] {
    const declared = this.names.filter((name) => names.includes(name));
    return [...declared, ...names.filter((name) => !this.has(name))];
  }
}

/** Splits a scope at spaces (RFC 6749 3.3) and, as a known deviation, at commas, which some client libraries send. */
export function scopeTokens(list: string): string[] {
  return [...new Set(list.split(/[ ,]+/).filter((token) => token !== ''))];
}

/** RFC 6749 3.3 `scope-token`: printable ASCII without space, quotation mark and backslash. */
export const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** Returns the client's default scopes, or all its declared scopes if none of them is a default (RFC 6749 3.3). */
export function defaultScope(registered: readonly string[], catalogue: ScopeCatalogue): readonly string[] {
  const defaults = catalogue.defaults.filter((token) => registered.includes(token));
  return defaults.length > 0 ? defaults : registered.filter((token) => catalogue.has(token));
}

/**
 * Returns the available tokens of a requested scope. RFC 6749 3.3: "The authorization server MAY fully or partially
 * ignore the scope requested by the client". OpenID Connect Core 3.1.2.1: "Scope values used that are not understood by
 * an implementation SHOULD be ignored."
 * @throws OAuthError invalid_scope for malformed tokens, or if none of several requested tokens is available
 */
export function availableScope(
  requested: readonly string[],
  available: readonly string[],
  registered: readonly string[] = available,
): readonly string[] {
  checkTokens(requested);
  const kept = requested.filter((token) => available.includes(token));
  if (kept.length > 0 || requested.length === 0) return kept;
  throw OAuthError.invalidScope(
    { id: 'scope_unregistered', requested, available },
    { detail: { registered, requested } },
  );
}

/**
 * Applies the defaults to an empty request (RFC 6749 3.3).
 * @throws OAuthError invalid_scope if the scope is malformed, or if no requested or no registered scope is available
 */
export function checkScope(
  requested: readonly string[],
  registered: readonly string[],
  catalogue: ScopeCatalogue,
): string {
  const available = registered.filter((token) => catalogue.has(token));
  if (available.length === 0)
    throw OAuthError.invalidScope('scope_unregistered.none_left', { detail: { registered, requested } });
  if (requested.length === 0) return defaultScope(registered, catalogue).join(' ');
  return availableScope(requested, available, registered).join(' ');
}

/**
 * RFC 6749 6: "The requested scope MUST NOT include any scope not originally granted by the resource owner, and if
 * omitted is treated as equal to the scope originally granted". Ignores the client's registration, which limits new
 * authorization requests, not grants. The grant engine leaves out what the user did not grant.
 * @returns space-separated tokens; null requests every granted scope
 * @throws OAuthError invalid_scope for a malformed list
 */
export function refreshScope(parameter: string | undefined): string | null {
  if (parameter === undefined) return null;
  const tokens = scopeTokens(parameter);
  checkTokens(tokens);
  return tokens.length === 0 ? null : tokens.join(' ');
}

function checkTokens(tokens: readonly string[]): void {
  if (tokens.every((token) => SCOPE_TOKEN.test(token))) return;
  throw OAuthError.invalidScope('scope_malformed');
}

/**
 * RFC 8707 2: each value "MUST be an absolute URI […] MUST NOT include a fragment component", and the parameter may be
 * repeated. A value identifies the API whose URL contains it.
 * @returns unique origins from `apis`, space-separated and sorted, so that equal sets are equal texts; null without a
 * value
 * @throws OAuthError invalid_target
 */
export function checkResource(sent: unknown, apis: readonly string[]): string | null {
  if (sent === undefined) return null;
  const values = (Array.isArray(sent) ? (sent as unknown[]) : [sent]).filter((value) => value !== '');
  const named = values.map((value) =>
    isAbsoluteUri(value) ? apis.find((api) => isWithinApi(api, value)) : undefined,
  );
  const detail = { resource: values.map((value) => String(value).slice(0, 200)).slice(0, 5) };
  if (named.includes(undefined)) throw OAuthError.invalidTarget({ id: 'resource_unknown', apis }, { detail });
  const audience = [...new Set(named as string[])].toSorted().join(' ');
  if (audience.length > MAX_AUDIENCE) throw OAuthError.invalidTarget('resource_unknown.too_many', { detail });
  return audience === '' ? null : audience;
}

/** RFC 3986 4.3: an absolute URI has no fragment. */
function isAbsoluteUri(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= LIMITS.resource &&
    /^[!-~]+$/.test(value) &&
    !value.includes('#')
  );
}
