import type { Locale } from './locale.js';
import { OAuthError } from './oauth-error.js';

/** Reads the user's data, or changes them. */
export type ScopeAccess = 'read' | 'write';

/** A scope of the product, as its file declares it. */
export interface Scope {
  readonly name: string;
  /** English, for operators and developers. */
  readonly description: string;
  /** What it lets an application do, for the user who is asked. */
  readonly texts: Readonly<Partial<Record<Locale, string>> & { en: string }>;
  /** Origin of the API that understands it; empty if no API is configured. */
  readonly resource: string;
  /** Whether a request that names no scope gets it. */
  readonly isDefault: boolean;
  /** Marked on pages. */
  readonly access: ScopeAccess;
}

/** The scopes that applications can request, in the order in which pages and commands list them. */
export class ScopeCatalogue {
  /** Every name. */
  readonly names: readonly string[];
  /** What a request without `scope` gets, and a client that registers for none. */
  readonly defaults: readonly string[];
  private readonly byName: ReadonlyMap<string, Scope>;

  constructor(readonly scopes: readonly Scope[]) {
    this.names = scopes.map(({ name }) => name);
    this.defaults = scopes.filter(({ isDefault }) => isDefault).map(({ name }) => name);
    this.byName = new Map(scopes.map((scope) => [scope.name, scope]));
  }

  /** The scope; null for one that is not declared, such as one of an old grant. */
  find(name: string): Scope | null {
    return this.byName.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** The names of the scopes that an API understands. @param resource its origin */
  ofResource(resource: string): string[] {
    return this.scopes.filter((scope) => scope.resource === resource).map(({ name }) => name);
  }

  /** The same names in the order of the catalogue; those that are not declared come last. */
  inOrder(names: readonly string[]): string[] {
    const declared = this.names.filter((name) => names.includes(name));
    return [...declared, ...names.filter((name) => !this.has(name))];
  }
}

/**
 * The scope tokens of a list, each once, in its order, whether they exist or not. RFC 6749 3.3 separates them by single
 * spaces. Known deviation: commas separate them as well, because several client libraries write them.
 */
export function scopeTokens(list: string): string[] {
  return [...new Set(list.split(/[ ,]+/).filter((token) => token !== ''))];
}

/** RFC 6749 3.3 `scope-token`. */
export const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/**
 * The scope of a refresh request. RFC 6749 6: "The requested scope MUST NOT include any scope not originally granted by
 * the resource owner, and if omitted is treated as equal to the scope originally granted". The client's registration does
 * not count here: it limits what the client can request from users, and does not take back what they granted.
 *
 * @returns space-separated scope tokens, or null for everything that was granted
 * @throws OAuthError invalid_scope for a malformed list; the grant engine decides whether it was granted
 */
export function refreshScope(parameter: string | undefined): string | null {
  if (parameter === undefined) return null;
  const tokens = scopeTokens(parameter);
  if (!tokens.every((token) => SCOPE_TOKEN.test(token)))
    throw OAuthError.invalidScope("the parameter 'scope' must be scope tokens separated by spaces", {
      detail: { check: 'scope syntax' },
    });
  return tokens.length === 0 ? null : tokens.join(' ');
}
