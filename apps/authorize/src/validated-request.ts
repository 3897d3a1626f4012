import type { Client } from '#database/client/client.js';
import type { User } from '#database/user/user.js';
import { type AuthorizationRequest } from '#oauth/authorization-request.js';

export interface ValidatedRequest extends AuthorizationRequest {
  readonly client: Client;
  readonly pushedId: string | null;
  /** Null without a valid session. */
  readonly user: User | null;
  /** The user authenticated longer ago than `max_age`. */
  readonly loginTooOld: boolean;
  /** The request names a user other than the logged-in user (`id_token_hint`, or `sub` in `claims`). */
  readonly isOtherUser: boolean;
  readonly scopes: readonly RequestedScope[];
  /** Grants of the user to the client in the last 24 hours. */
  readonly grantsOfDay: number;
}

export interface RequestedScope {
  readonly scope: string;
  readonly required: boolean;
  /** The latest decision; null if the scope was never requested. */
  readonly decision: 'granted' | 'declined' | null;
}
