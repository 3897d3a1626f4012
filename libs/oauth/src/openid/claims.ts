import { OAuthError } from '../oauth-error.js';

/** Claims about the user, by the scope that grants them (OpenID Connect Core 5.4). */
export const CLAIMS_OF_SCOPE = {
  profile: ['name', 'preferred_username', 'picture', 'locale', 'zoneinfo'],
  email: ['email', 'email_verified'],
} as const;

export type ClaimName = (typeof CLAIMS_OF_SCOPE)[keyof typeof CLAIMS_OF_SCOPE][number];

/** Claims about the user (OpenID Connect Core 5.1). An unknown value is absent. */
export type UserClaims = Readonly<Partial<Record<ClaimName, string | boolean>>>;

/** The `claims` parameter (OpenID Connect Core 5.5), without unsupported claims. */
export interface RequestedClaims {
  /** Individually requested claims of the ID token. Scopes determine the claims of UserInfo. */
  readonly idToken: readonly ClaimName[];
  /** Scopes that grant the individually requested claims. */
  readonly scopes: readonly string[];
  /** Requested value of `sub`; null for any user. */
  readonly subject: string | null;
}

export const NO_CLAIMS: RequestedClaims = { idToken: [], scopes: [], subject: null };

const SCOPES = Object.entries(CLAIMS_OF_SCOPE) as [string, readonly ClaimName[]][];
const NAMES: readonly ClaimName[] = SCOPES.flatMap(([, names]) => names);

export function grantedClaims(claims: UserClaims, scope: readonly string[]): UserClaims {
  const granted = SCOPES.filter(([name]) => scope.includes(name)).flatMap(([, names]) => names);
  return Object.fromEntries(granted.filter((name) => name in claims).map((name) => [name, claims[name]]));
}

/** Ignores unknown claims and members (OpenID Connect Core 5.5). @throws OAuthError invalid_request */
export function parseClaims(parameter: string | undefined): RequestedClaims {
  if (parameter === undefined) return NO_CLAIMS;
  let parsed: unknown;
  try {
    parsed = JSON.parse(parameter);
  } catch {
    throw invalidClaims();
  }
  if (!isMap(parsed)) throw invalidClaims();
  const [idToken, userInfo] = [membersOf(parsed, 'id_token'), membersOf(parsed, 'userinfo')];
  const requested = NAMES.filter((name) => Object.hasOwn(idToken, name) || Object.hasOwn(userInfo, name));
  const sub = Object.hasOwn(idToken, 'sub') ? idToken['sub'] : undefined;
  return {
    idToken: requested.filter((name) => Object.hasOwn(idToken, name)),
    scopes: SCOPES.filter(([, names]) => names.some((name) => requested.includes(name))).map(
      ([name]) => name,
    ),
    subject: isMap(sub) && typeof sub['value'] === 'string' ? sub['value'] : null,
  };
}

function membersOf(
  claims: Readonly<Record<string, unknown>>,
  name: 'id_token' | 'userinfo',
): Readonly<Record<string, unknown>> {
  const members = Object.hasOwn(claims, name) ? claims[name] : null;
  if (members === null) return {};
  if (!isMap(members)) throw invalidClaims();
  return members;
}

function invalidClaims(): OAuthError {
  return OAuthError.invalidRequest('claims_invalid');
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
