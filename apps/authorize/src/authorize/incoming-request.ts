import type { AuthorizationRequest } from '#oauth/authorization/authorization-request.js';
import type { User } from '#database/user/user.js';
import type { AskedScope } from '../consent/remembered-consent.js';

/** An authorization request as it came to this app, and from whom. */
export interface IncomingRequest extends AuthorizationRequest {
  /** The id under which its parameters had been pushed (RFC 9126); null when they came in the query. */
  readonly pushedId: string | null;
  /** Who is logged in; null when nobody is, or when that session is over. */
  readonly user: User | null;
  /** Its scope, and what the user thinks of it. */
  readonly asked: readonly AskedScope[];
  /** How many grants the user gave the client in the last 24 hours. */
  readonly grantsOfDay: number;
}
