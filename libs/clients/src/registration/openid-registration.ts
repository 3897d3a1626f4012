import { DEFAULT_SIGNING_ALGORITHM, type SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { isLoopback } from '#oauth/redirect-uri.js';
import { type Problem, problem } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    sector_missing: null;
    sector_without_host: { readonly given: string };
    sectors_differ: { readonly hosts: readonly string[] };
  }
}

/** Pairwise clients of different sites get different `sub` values for a user (section 8 of OpenID Connect Core). */
export const SUBJECT_TYPES = ['public', 'pairwise'] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];

interface OpenIdRegistration {
  readonly idTokenAlg: SigningAlgorithm | null;
  readonly sector: string | null;
}

export const subjectTypeOf = ({ sector }: Pick<OpenIdRegistration, 'sector'>): SubjectType =>
  sector === null ? 'public' : 'pairwise';

export const algorithmOf = ({ idTokenAlg }: Pick<OpenIdRegistration, 'idTokenAlg'>): SigningAlgorithm =>
  idTokenAlg ?? DEFAULT_SIGNING_ALGORITHM;

export const storedAlgorithm = (alg: SigningAlgorithm): SigningAlgorithm | null =>
  alg === DEFAULT_SIGNING_ALGORITHM ? null : alg;

/** Section 5.4.1 of FAPI 2.0 permits PS256, ES256 and EdDSA. */
const FAPI_DEFAULT: SigningAlgorithm = 'ES256';

export const defaultAlgorithm = (profile: string | null | undefined): SigningAlgorithm =>
  profile === 'fapi2' ? FAPI_DEFAULT : DEFAULT_SIGNING_ALGORITHM;

/** Returns null unless all URIs share a host. Several would need `sector_identifier_uri` (OpenID Connect Core 8.1). */
export function sectorOf(redirectUris: readonly string[]): string | null {
  const hosts = new Set(redirectUris.map(hostOf));
  const [host = null] = hosts;
  return hosts.size === 1 ? host : null;
}

/** Section 8.1 of OpenID Connect Core: without `sector_identifier_uri`, every redirect URI has the same host. */
export function sectorProblems(redirectUris: readonly string[]): Problem[] {
  if (redirectUris.length === 0) return [problem('sector_missing', 'redirectUris')];
  const withoutHost = redirectUris.flatMap((given, index) =>
    hostOf(given) === null ? [problem('sector_without_host', ['redirectUris', index], { given })] : [],
  );
  if (withoutHost.length > 0 || sectorOf(redirectUris) !== null) return withoutHost;
  const hosts = [...new Set(redirectUris.map((uri) => hostOf(uri) ?? ''))];
  return [problem('sectors_differ', 'redirectUris', { hosts })];
}

/**
 * Returns null for an invalid URI, and for a private-use scheme or a loopback address, which many applications share.
 */
function hostOf(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const { protocol, hostname } = new URL(uri);
  if (protocol !== 'https:' && protocol !== 'http:') return null;
  return isLoopback(hostname) ? null : hostname;
}
