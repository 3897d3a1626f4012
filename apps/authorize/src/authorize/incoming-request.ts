import type { AuthorizationRequest } from '#authorization/authorization-request.js';

/** An authorization request as it came to this app. */
export interface IncomingRequest extends AuthorizationRequest {
  /** The id under which its parameters had been pushed (RFC 9126); null when they came in the query. */
  readonly pushedId: string | null;
}
