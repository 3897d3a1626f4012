import type { Client } from '#database/client/client.js';
import type { User } from '#database/user/user.js';
import type { AuthorizationRequest } from '#oauth/authorization-request.js';
import { allowedEarlier, allowedToFirstParty, type RequestedScope } from './requested-scope.js';

/** An authorization request that passed every check, with its user. */
export interface ValidatedRequest extends AuthorizationRequest {
  readonly client: Client;
  /** The id of the pushed request (RFC 9126); null if the parameters came in the query. */
  readonly pushedId: string | null;
  /** The logged-in user; null if nobody is logged in, or the session is no longer valid. */
  readonly user: User | null;
  readonly scopes: readonly RequestedScope[];
  /** How many grants the user gave the client in the last 24 hours. */
  readonly grantsOfDay: number;
}

/** The page that the user must answer before the request can be answered. */
export type Interaction =
  | { readonly page: 'login' }
  | { readonly page: 'consent' }
  /** None: the application gets this scope. */
  | { readonly page: null; readonly scope: string };

/**
 * Grants of one user to one application in a day, above which the user is asked again. Every answer without a page stores
 * a row for the lifetime of a refresh token, and any site can send a browser here as often as it likes. Simultaneous
 * requests may exceed it by a few: it bounds storage and protects nothing else.
 */
const MAX_GRANTS_A_DAY = 100;

const LOGIN = { page: 'login' } as const;
const CONSENT = { page: 'consent' } as const;

/**
 * Decides which page a request needs.
 *
 * @param loggedInForIt whether the user gave the password for this request
 */
export function requiredInteraction(request: ValidatedRequest, loggedInForIt: boolean): Interaction {
  const { user, client, prompt, scopes, grantsOfDay } = request;
  if (!user || (prompt.has('login') && !loggedInForIt)) return LOGIN;
  // The consent page shows the account, and can change it.
  if (prompt.has('consent') || prompt.has('select_account')) return CONSENT;
  if (!isClientAssured(request) || grantsOfDay >= MAX_GRANTS_A_DAY) return CONSENT;
  const scope = client.firstParty ? allowedToFirstParty(scopes) : allowedEarlier(scopes);
  return scope === null ? CONSENT : { page: null, scope };
}

/**
 * RFC 8252 8.6: requests are not processed "automatically without user consent or interaction, except when the identity
 * of the client can be assured". Any application on a device can use a public client's client_id with its loopback address
 * or private-use scheme, also those of a first-party client. It cannot use its https address or its secret.
 */
function isClientAssured({ client, redirectUri }: ValidatedRequest): boolean {
  if (client.type === 'confidential') return true;
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === 'https:' && !isLoopback(hostname);
}

export function isLoopback(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
