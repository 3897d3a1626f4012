import {
  DEFAULT_SIGNING_ALGORITHM,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
} from '#oauth/openid/signing-keys.js';
import { isLoopback } from '#oauth/redirect-uri.js';
import { quoted } from '#operations/wording.js';

/** Pairwise clients of different sites get different `sub` values for a user (section 8 of OpenID Connect Core). */
const SUBJECT_TYPES = ['public', 'pairwise'] as const;
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

export const profileAlgorithmProblems = (
  name: string,
  profile: string | null | undefined,
  alg: SigningAlgorithm | null,
): string[] =>
  profile === 'fapi2' && algorithmOf({ idTokenAlg: alg }) === 'RS256'
    ? [`${name} must be ES256 or EdDSA for fapi2 (FAPI 2.0 5.4.1)`]
    : [];

export function algorithmProblems(name: string, value: unknown): string[] {
  return value === undefined || (SIGNING_ALGORITHMS as readonly unknown[]).includes(value)
    ? []
    : [`${name} must be ${SIGNING_ALGORITHMS.join(', ')}`];
}

export function subjectProblems(name: string, value: unknown): string[] {
  return value === undefined || (SUBJECT_TYPES as readonly unknown[]).includes(value)
    ? []
    : [`${name} must be ${SUBJECT_TYPES.join(' or ')}`];
}

/** Returns null unless all URIs share a host. Several would need `sector_identifier_uri` (OpenID Connect Core 8.1). */
export function sectorOf(redirectUris: readonly string[]): string | null {
  const hosts = new Set(redirectUris.map(hostOf));
  const [host = null] = hosts;
  return hosts.size === 1 ? host : null;
}

/** @param sector null accepts any host that all redirect URIs share */
export function sectorProblems(
  name: string,
  redirectUris: readonly string[],
  sector: string | null,
): string[] {
  if (redirectUris.length === 0)
    return [`${name} is missing: the subjects of a pairwise client depend on the host of its redirect URIs`];
  const withoutHost = redirectUris.filter((uri) => hostOf(uri) === null);
  if (withoutHost.length > 0)
    return withoutHost.map(
      (uri) =>
        `${name} ${quoted(uri)} has no host of its own, which a pairwise subject needs: register it with the subject public`,
    );
  if (sector !== null)
    return redirectUris
      .filter((uri) => hostOf(uri) !== sector)
      .map(
        (uri) =>
          `${name} ${quoted(uri)} is not at ${sector}: a pairwise subject needs the same host in every redirect URI (OpenID Connect Core 8.1)`,
      );
  const hosts = [...new Set(redirectUris.map(hostOf))];
  return hosts.length > 1
    ? [
        `${name} has several hosts, ${hosts.join(', ')}: a pairwise subject needs the same host in every redirect URI (OpenID Connect Core 8.1)`,
      ]
    : [];
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
