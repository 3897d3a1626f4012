import type { Client } from '#database/client/client.js';
import type { Prompt } from './check-prompt.js';

/** Where an answer goes, and what must come back with it. */
export interface ReturnAddress {
  /** A registered redirect URI of the client, as the request wrote it. */
  readonly redirectUri: string;
  /** Null when the request had none that could be returned. */
  readonly state: string | null;
}

/** An authorization request (RFC 6749 4.1.1, RFC 7636 4.3) that passed every check. */
export interface AuthorizationRequest extends ReturnAddress {
  readonly client: Client;
  readonly state: string;
  /** Space-separated, never empty. */
  readonly scope: string;
  /** S256 challenge; null when a confidential client sent none. */
  readonly challenge: string | null;
  /** Thumbprint of the key that the code must be redeemed with (`dpop_jkt`, RFC 9449 10); null when none is named. */
  readonly jkt: string | null;
  /** What the user must be asked though it might be known, or that nothing may be (OpenID Connect Core 3.1.2.1). */
  readonly prompt: ReadonlySet<Prompt>;
  /** Who the client believes the user to be; only ever shown in the login form. */
  readonly loginHint: string | null;
  /** Languages that the client asks for, space-separated. */
  readonly uiLocales: string | null;
}
