import type { OAuthClient } from '#oauth/client.js';

/** Pages and contacts of an application (RFC 7591 2), which our pages link to. */
export interface ClientLinks {
  /** Home page; null if it has none. */
  readonly clientUri: string | null;
  /** Privacy policy; null if it has none. */
  readonly policyUri: string | null;
  /** Email addresses or URLs. */
  readonly contacts: readonly string[];
}

/** A registered third-party application. */
export interface Client extends OAuthClient, ClientLinks {
  readonly name: string;
  /** Whether its authorization requests must be pushed (RFC 9126 6, require_pushed_authorization_requests). */
  readonly requirePar: boolean;
  /** The ones of `scopes` that users may decline while allowing the others. */
  readonly optionalScopes: readonly string[];
  /** An application of the product itself: users are not asked for consent. */
  readonly firstParty: boolean;
  /** When the operator disabled it; null if it may be used. */
  readonly disabledAt: Date | null;
  /** Hexadecimal SHA-256 of its image; null if it has none. */
  readonly logo: string | null;
  readonly createdAt: Date;
}

/** A client with what authenticates it (RFC 6749 2.3). */
export interface ClientWithSecrets extends Client {
  /** The live secrets, as SHA-256. Empty for public clients. */
  readonly secrets: readonly { readonly id: string; readonly hash: Buffer }[];
}

/** Not SVG, which can contain scripts and load other resources. */
export type LogoMediaType = 'image/png' | 'image/jpeg' | 'image/webp';

/** The logo of an application. */
export interface ClientLogo {
  readonly mediaType: LogoMediaType;
  /** At most 12 KiB. */
  readonly image: Buffer;
}

/** Whether a text has the form of a logo's digest, hexadecimal SHA-256. */
export function isLogoDigest(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** A client with this identifier is already registered. */
export class DuplicateClientError extends Error {
  constructor(readonly clientId: string) {
    super(`a client with the id ${clientId} is already registered; choose another one`);
    this.name = 'DuplicateClientError';
  }
}
