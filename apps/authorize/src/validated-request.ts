import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import { type AuthorizationRequest } from '#oauth/authorization-request.js';

export interface ValidatedRequest extends AuthorizationRequest {
  readonly client: Client;
  readonly pushedId: string | null;
  /** Null without a valid session. */
  readonly user: User | null;
  /** The user authenticated more than `max_age` ago, or at an unknown time. */
  readonly loginTooOld: boolean;
  /** The request names a user other than the logged-in user (`id_token_hint`, or `sub` in `claims`). */
  readonly isOtherUser: boolean;
  readonly scopes: readonly RequestedScope[];
  /** Number of the user's grants to the client in the last 24 hours; at most 100. */
  readonly grantsOfDay: number;
}

export interface RequestedScope {
  readonly scope: string;
  readonly required: boolean;
  /** The newest decision that counts for the requested APIs; null if there is none. */
  readonly decision: 'granted' | 'declined' | null;
}
