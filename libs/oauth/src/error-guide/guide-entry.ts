import type { OAuthErrorCode } from '../error-code.js';

/**
 * Party that can fix an error: the application's developer, the user, the operator of this service (with its commands), or the
 * team that runs it.
 */
export type Party = 'application' | 'user' | 'operator' | 'platform';

/**
 * Advice for one party, with commands for the operator (without the program name). Backticks mark code. Braces mark a value of
 * the request: {client_id}, {grant_id}, {redirect_uri}, {post_logout_redirect_uris}, {scope} or {user}.
 */
type Remedy = readonly [party: Party, action: string, ...commands: string[]];

export interface GuideEntry {
  readonly title: string;
  /** Explanation in one or two sentences; backticks mark code. */
  readonly meaning: string;
  /** Most likely first. */
  readonly remedies: readonly Remedy[];
  /**
   * Entry shown instead on the public page and in `error_uri`, if a response must not distinguish two checks (an unknown client
   * and a wrong secret).
   */
  readonly publishedAs?: string;
}

export interface ErrorCodeEntry extends GuideEntry {
  /** Example of `error_description`. */
  readonly example: string;
}

interface CheckEntry extends GuideEntry {
  /** Error codes of the responses; none for a login form that is shown again, and for logout tokens. */
  readonly errors: readonly OAuthErrorCode[];
}

export type GuideEntries = Readonly<Record<string, GuideEntry>>;

export type CheckEntries = Readonly<Record<string, CheckEntry>>;
