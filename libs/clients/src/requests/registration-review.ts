import type { RequestFinding } from '#error-guide/request-findings.js';
import { skeletonOf } from '../name-skeleton.js';

export interface ReviewedRegistration {
  readonly name: string;
  readonly clientUri: string | null;
  readonly policyUri: string | null;
  readonly redirectUris: readonly string[];
  readonly hasLogo: boolean;
  /** Requested scopes, which need a reason. */
  readonly scopes: readonly string[];
  readonly reasons: Readonly<Record<string, string>>;
}

/** @param others other applications whose names look like this one */
export function findingsOf(
  registration: ReviewedRegistration,
  product: string,
  others: readonly { readonly clientId: string; readonly name: string }[],
): RequestFinding[] {
  const { name, clientUri, policyUri, redirectUris, hasLogo, scopes, reasons } = registration;
  const website = clientUri === null ? null : hostOf(clientUri);
  const isElsewhere = (host: string | null): host is string =>
    host !== null && website !== null && !belongsTo(host, website);
  const hosts = [...new Set(redirectUris.map(hostOf))].filter(isElsewhere);
  const policyHost = policyUri === null ? null : hostOf(policyUri);
  const skeleton = skeletonOf(name);
  const scripts = scriptsOf(name);
  const reasonOf = (scope: string) => reasons[scope]?.trim().toLowerCase();
  const repeated = scopes.filter(
    (scope) =>
      reasonOf(scope) && scopes.some((other) => other !== scope && reasonOf(other) === reasonOf(scope)),
  );
  return [
    ...(website === null ? [{ id: 'website_missing', values: null } as const] : []),
    ...hosts.map(
      (host) => ({ id: 'redirect_host_elsewhere', values: { host, website: website ?? '' } }) as const,
    ),
    ...(policyUri === null ? [{ id: 'policy_missing', values: null } as const] : []),
    ...(isElsewhere(policyHost)
      ? [{ id: 'policy_host_elsewhere', values: { host: policyHost, website: website ?? '' } } as const]
      : []),
    ...(hasLogo ? [] : [{ id: 'logo_missing', values: null } as const]),
    ...(skeleton.includes(skeletonOf(product))
      ? [{ id: 'name_like_product', values: { product } } as const]
      : []),
    ...others.map((other) => ({ id: 'name_like_application', values: other }) as const),
    ...(scripts.length > 1 ? [{ id: 'name_mixes_scripts', values: { scripts } } as const] : []),
    ...scopes
      .filter((scope) => reasons[scope] === undefined)
      .map((scope) => ({ id: 'scope_without_reason', values: { scope } }) as const),
    ...(repeated.length > 0 ? [{ id: 'reason_repeated', values: { scopes: repeated } } as const] : []),
  ];
}

function hostOf(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const { protocol, hostname } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? hostname : null;
}

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

function belongsTo(host: string, website: string): boolean {
  const domain = website.replace(/^www\./, '');
  return host === domain || host.endsWith(`.${domain}`) || LOOPBACK.test(host);
}

const SCRIPTS = ['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Hebrew', 'Arabic', 'Cherokee'] as const;

/** Japanese, Chinese and Korean names mix scripts, also with Latin letters. */
function scriptsOf(name: string): string[] {
  return SCRIPTS.filter((script) => new RegExp(`\\p{Script=${script}}`, 'u').test(name));
}
