import type { OAuthClient } from '#oauth/client.js';

/** A registered third-party application. */
export interface Client extends OAuthClient {
  readonly name: string;
  /** Whether its authorization requests must be pushed (RFC 9126 6, require_pushed_authorization_requests). */
  readonly requirePar: boolean;
  /** Those of `scopes` that users may decline and still let it in. */
  readonly optionalScopes: readonly string[];
  /** An application of the product itself: users are not asked for consent. */
  readonly firstParty: boolean;
  /** Hexadecimal SHA-256 of its image; null when it has none. */
  readonly logo: string | null;
  readonly createdAt: Date;
}

/** A client as it is authenticated (RFC 6749 2.3); pages know no secrets. */
export interface ClientWithSecrets extends Client {
  /** Those that are not revoked; hash is the SHA-256 of the secret. Empty for public clients. */
  readonly secrets: readonly { readonly id: string; readonly hash: Buffer }[];
}

/** SVG is none of them: it can hold scripts, and load from elsewhere. */
export type LogoMediaType = 'image/png' | 'image/jpeg' | 'image/webp';

/** The picture by which users recognise an application. */
export interface ClientLogo {
  readonly mediaType: LogoMediaType;
  /** At most 12 KiB. */
  readonly image: Buffer;
}

/** Whether it can be the name of a logo: the hexadecimal SHA-256 of an image. */
export function isLogoDigest(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/** A client with this identifier is registered already. */
export class DuplicateClientError extends Error {
  constructor(readonly clientId: string) {
    super(`a client with the id ${clientId} is already registered; choose another one`);
    this.name = 'DuplicateClientError';
  }
}
