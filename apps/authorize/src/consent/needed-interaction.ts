import type { IncomingRequest } from '../authorize/incoming-request.js';
import { isLoopback } from './destination.js';
import { allowedBefore, allowedToFirstParty } from './remembered-consent.js';

/** On which page the user has to do something before the request can be answered. */
export type Interaction =
  | { readonly page: 'login' }
  | { readonly page: 'consent' }
  /** On none: the application gets this scope. */
  | { readonly page: null; readonly scope: string };

/**
 * Grants of one user to one application in a day, from which on the user is asked. Every answer without a question is
 * a row that lives as long as a refresh token, and any site can send a browser here as often as it likes. Simultaneous
 * requests may get a few more: this bounds what is stored and guards nothing.
 */
const MOST_A_DAY = 100;

const LOGIN = { page: 'login' } as const;
const CONSENT = { page: 'consent' } as const;

/**
 * Decides whether a request can be answered without a page.
 *
 * @param loggedInForIt whether the user gave the password for this very request
 */
export function neededInteraction(request: IncomingRequest, loggedInForIt: boolean): Interaction {
  const { user, client, prompt, asked, grantsOfDay } = request;
  if (!user || (prompt.has('login') && !loggedInForIt)) return LOGIN;
  // The consent page is where the account is shown, and can be changed.
  if (prompt.has('consent') || prompt.has('select_account')) return CONSENT;
  if (!isAssured(request) || grantsOfDay >= MOST_A_DAY) return CONSENT;
  const scope = client.firstParty ? allowedToFirstParty(asked) : allowedBefore(asked);
  return scope === null ? CONSENT : { page: null, scope };
}

/**
 * RFC 8252 8.6: requests are not processed "automatically without user consent or interaction, except when the identity
 * of the client can be assured". Any application on a device can take a public client's loopback address or
 * private-use scheme and its client_id, one of the product itself too; https addresses and secrets it cannot take.
 */
function isAssured({ client, redirectUri }: IncomingRequest): boolean {
  if (client.type === 'confidential') return true;
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === 'https:' && !isLoopback(hostname);
}
