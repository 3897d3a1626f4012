import type { GrantType } from '#oauth/client-credentials.js';
import type { ClientKeys, ClientType, OAuthClient } from '#oauth/oauth-client.js';
import type { SubjectRule } from '#oauth/openid/id-token.js';
import type { SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { type AdministrationError, refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import type { ClientFlags } from './client-flags.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    client_unknown: { readonly id: string };
  }
}

export function unknownClient(clientId: string): AdministrationError {
  return refused('unknown', problem('client_unknown', [], { id: clientId }));
}

/** Only its owners and testers can use an application in testing, until an operator approves its registration. */
export type ClientStage = 'testing' | 'live';

/** Grants to an application in testing end after this time. */
export const TESTING_GRANT_DAYS = 7;

/** Links and contacts of an application (RFC 7591 2), shown on our pages. */
export interface ClientLinks {
  readonly clientUri: string | null;
  readonly policyUri: string | null;
  /** Email addresses or URLs. */
  readonly contacts: readonly string[];
}

/** URIs used when a user logs out (RP-Initiated Logout 1.0, section 3.1; Back-Channel Logout 1.0, section 2.2). */
export interface LogoutUris {
  readonly postLogoutRedirectUris: readonly string[];
  readonly backchannelLogoutUri: string | null;
}

/** State of a client's metadata document (draft-ietf-oauth-client-id-metadata-document); its URL is the client_id. */
interface DocumentState {
  /** Time of the next fetch. */
  readonly dueAt: Date;
  /** Consent given before this time does not count. */
  readonly changedAt: Date;
  /** Failure of the latest fetch; null if it succeeded. */
  readonly problem: string | null;
}

export interface Client
  extends OAuthClient, ClientFlags, ClientLinks, LogoutUris, SubjectRule, Pick<TokenRules, 'deviceGrant'> {
  readonly name: string;
  /** Subset of `scopes` that users may decline individually. */
  readonly optionalScopes: readonly string[];
  /** Signature algorithm of the client's ID tokens; null for the default, RS256. */
  readonly idTokenAlg: SigningAlgorithm | null;
  /** Sector of the client's pairwise subjects (OpenID Connect Core 8.1); null for public subjects. */
  readonly sector: string | null;
  readonly stage: ClientStage;
  readonly disabledAt: Date | null;
  /** Null for a client without a metadata document. */
  readonly document: DocumentState | null;
  /** Hexadecimal SHA-256 of the image. */
  readonly logo: string | null;
  readonly createdAt: Date;
}

export interface TokenRules {
  /** RFC 7591 2 `grant_types`. Never changes. */
  readonly grantType: GrantType;
  /** The client may also use the device authorization grant (RFC 8628), and may then lack redirect URIs. */
  readonly deviceGrant: boolean;
  /** RFC 9449 5.2 `dpop_bound_access_tokens`: token requests require a DPoP proof. */
  readonly dpopBound: boolean;
  /** Refresh tokens do not rotate (section 5.3.2.1 of FAPI 2.0). Requires `dpopBound`. */
  readonly keepsRefreshToken: boolean;
  /** FAPI 2.0 Security Profile. Requires keys, PAR, `dpopBound` and `keepsRefreshToken`; excludes `deviceGrant`. */
  readonly profile: 'fapi2' | null;
}

export interface ClientWithSecrets extends Client, ClientKeys, TokenRules {
  /** Schemes of redirect URIs that the operator admits although they are not reversed domain names. */
  readonly privateSchemes: readonly string[];
  readonly version: number;
  /** Live secrets. Public clients and clients with keys have no secrets. */
  readonly secrets: readonly { readonly id: string }[];
}

export interface ClientWithHashes extends ClientWithSecrets {
  /** Live secrets with their SHA-256 hashes. */
  readonly secrets: readonly {
    readonly id: string;
    readonly hash: Buffer;
    readonly expiresAt: Date | null;
  }[];
}

/** A live client secret, without its hash. */
export interface ClientSecretRecord {
  readonly id: string;
  readonly createdAt: Date;
  /** Start of the hour of the last use; null if unused. */
  readonly lastUsedAt: Date | null;
  /** Null for a secret that does not expire. */
  readonly expiresAt: Date | null;
}

export interface EnabledClient extends ClientKeys {
  readonly clientId: string;
  readonly name: string;
  readonly type: ClientType;
  readonly redirectUris: readonly string[];
  readonly privateSchemes: readonly string[];
  readonly scopes: readonly string[];
  readonly idTokenAlg: SigningAlgorithm | null;
  readonly grantType: GrantType;
  readonly documentProblem: string | null;
  readonly stage: 'testing' | 'live';
  readonly secrets: readonly ClientSecretRecord[];
}

/** Condition of a change, checked while the client is locked. */
export interface ClientCondition {
  /** Undefined for every version. */
  readonly version?: number | undefined;
  /** User who must own the client; undefined for operators. Other clients are unknown to the user. */
  readonly owner?: number | undefined;
  /** Name of the operator in the history. */
  readonly operator?: string | undefined;
  /** Throws an error if the change is not permitted for this client. */
  readonly check?: (
    client: Pick<ClientWithSecrets, 'clientId' | 'grantType' | 'redirectUris' | 'developerPortal'>,
  ) => void;
}

/** Excludes SVG, which can contain scripts and load other resources. */
export type LogoMediaType = 'image/png' | 'image/jpeg' | 'image/webp';

export interface ClientLogo {
  readonly mediaType: LogoMediaType;
  /** At most 128 KiB. */
  readonly image: Buffer;
}

export function isLogoDigest(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

export class DuplicateClientError extends Error {
  constructor(readonly clientId: string) {
    super(`a client with the id ${clientId} is already registered: choose another id`);
    this.name = 'DuplicateClientError';
  }
}
