import type { ClientType } from '#oauth/client.js';
import { registrationProblem } from '#oauth/redirect-uri.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { quoted, Rule } from '../command-line/input.js';
import { DEFAULT_SIGNING_ALGORITHM, type SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { linkProblems } from './client-links.js';
import { algorithmProblems, sectorProblems, type Subject, subjectProblems } from './openid-registration.js';

export const MAX_REDIRECT_URIS = 20;

export class NewClientDto {
  @Rule(({ name }: NewClientDto) => nameProblems('--name', name, 'users see it when they allow access'))
  name: string;

  public = false;

  requirePar = false;

  @Rule(({ state }: NewClientDto) => stateProblems(state))
  state = 'required';

  firstParty = false;

  @Rule(({ idTokenAlg }: NewClientDto) => algorithmProblems('--id-token-alg', idTokenAlg))
  idTokenAlg: SigningAlgorithm = DEFAULT_SIGNING_ALGORITHM;

  @Rule(({ subject, redirectUri }: NewClientDto) => [
    ...subjectProblems('--subject', subject),
    ...(subject === 'pairwise' ? sectorProblems('--redirect-uri', redirectUri, null) : []),
  ])
  subject: Subject = 'public';

  @Rule(({ redirectUri: uris, public: isPublic }: NewClientDto) => {
    if (uris.length === 0)
      return [
        '--redirect-uri is missing: give the address users return to, like https://app.example.com/callback',
      ];
    if (uris.length > MAX_REDIRECT_URIS)
      return [`--redirect-uri is given more than ${MAX_REDIRECT_URIS} times: give fewer`];
    return redirectUriProblems('--redirect-uri', uris, isPublic ? 'public' : 'confidential');
  })
  redirectUri: string[] = [];

  @Rule(({ postLogoutRedirectUri: uris, public: isPublic }: NewClientDto) =>
    postLogoutProblems('--post-logout-redirect-uri', uris, isPublic ? 'public' : 'confidential'),
  )
  postLogoutRedirectUri: string[] = [];

  @Rule(({ backchannelLogoutUri: uri }: NewClientDto) => backchannelProblems('--backchannel-logout-uri', uri))
  backchannelLogoutUri: string | null = null;

  /** Path of a file. */
  @Rule(({ jwks, jwksUri, public: isPublic }: NewClientDto) =>
    isPublic && (jwks ?? jwksUri) !== undefined
      ? ['--public and keys exclude each other: a public client cannot keep a private key either']
      : [],
  )
  jwks?: string;

  jwksUri?: string;

  @Rule(({ profile, jwks, jwksUri }: NewClientDto) => {
    if (profile === undefined) return [];
    if (profile !== 'fapi2') return ['--profile must be fapi2'];
    return (jwks ?? jwksUri) === undefined ? ['--profile fapi2 needs --jwks or --jwks-uri'] : [];
  })
  profile?: string;

  dpopBound = false;

  @Rule(({ refreshTokenRotation: rotation, dpopBound, profile }: NewClientDto) => {
    if (rotation === undefined) return [];
    if (profile === 'fapi2' && rotation === 'on')
      return ['--profile fapi2 and --refresh-token-rotation on exclude each other'];
    return rotationProblems(rotation, dpopBound || profile === 'fapi2');
  })
  refreshTokenRotation?: string;

  @Rule(({ clientUri, policyUri, contacts }: NewClientDto) =>
    linkProblems({ clientUri, policyUri, contacts }, optionOf),
  )
  clientUri: string | null = null;

  policyUri: string | null = null;

  contacts: string[] = [];

  @Rule(({ scope }: NewClientDto) =>
    scope.length === 0 ? ['--scope is empty: leave it out for the default scopes'] : [],
  )
  scope: string[];

  @Rule(({ scope, optionalScope }: NewClientDto) =>
    optionalScopeProblems('--optional-scope', optionalScope, scope),
  )
  optionalScope: string[] = [];
}

/** `applyChanges` checks the redirect URIs, because the rules depend on the type of the client. */
export class ClientChangesDto {
  @Rule(({ name }: ClientChangesDto) =>
    name === undefined ? [] : nameProblems('--name', name, 'users see it when they allow access'),
  )
  name?: string;

  @Rule(({ scope }: ClientChangesDto) => {
    if (scope === undefined) return [];
    return scope.length === 0 ? ['--scope is empty: give at least one'] : [];
  })
  scope?: string[];

  addScope: string[] = [];

  @Rule(({ scope, addScope, removeScope }: ClientChangesDto) =>
    scope !== undefined && addScope.length + removeScope.length > 0
      ? ['--scope replaces all scopes: leave it out, or --add-scope and --remove-scope']
      : [],
  )
  removeScope: string[] = [];

  /** An empty list makes every scope required. */
  optionalScope?: string[];

  @Rule(({ requirePar }: ClientChangesDto) => booleanProblems('--require-par', requirePar))
  requirePar?: string;

  @Rule(({ state }: ClientChangesDto) => stateProblems(state))
  state?: string;

  @Rule(({ firstParty }: ClientChangesDto) => booleanProblems('--first-party', firstParty))
  firstParty?: string;

  /** Replaces the registered ones; an empty list removes them. */
  postLogoutRedirectUri?: string[];
  @Rule(({ idTokenAlg }: ClientChangesDto) => algorithmProblems('--id-token-alg', idTokenAlg))
  idTokenAlg?: SigningAlgorithm;

  @Rule(({ subject }: ClientChangesDto) => subjectProblems('--subject', subject))
  subject?: Subject;

  /** A URL or `none`. */
  @Rule(({ backchannelLogoutUri: uri }: ClientChangesDto) =>
    backchannelProblems('--backchannel-logout-uri', uri === undefined ? null : orNone(uri)),
  )
  backchannelLogoutUri?: string;

  /** A URL or `none`. */
  @Rule(({ clientUri, policyUri, contacts }: ClientChangesDto) =>
    linkProblems(
      {
        ...(clientUri !== undefined && { clientUri: orNone(clientUri) }),
        ...(policyUri !== undefined && { policyUri: orNone(policyUri) }),
        ...(contacts && { contacts }),
      },
      optionOf,
    ),
  )
  clientUri?: string;

  policyUri?: string;

  contacts?: string[];

  /** Path of a file or `none`. */
  logo?: string;

  /** Path of a file or `none`. */
  jwks?: string;

  /** A URL or `none`. */
  jwksUri?: string;

  @Rule(({ dpopBound }: ClientChangesDto) => booleanProblems('--dpop-bound', dpopBound))
  dpopBound?: string;

  @Rule(({ refreshTokenRotation: rotation }: ClientChangesDto) =>
    rotation === undefined ? [] : rotationProblems(rotation, true),
  )
  refreshTokenRotation?: string;

  addRedirectUri: string[] = [];

  @Rule(({ addScope, removeScope, addRedirectUri, removeRedirectUri, ...others }: ClientChangesDto) =>
    [addScope, removeScope, addRedirectUri, removeRedirectUri].every(({ length }) => length === 0) &&
    Object.values(others).every((value) => value === undefined)
      ? ['nothing to change: give one of the options of client update --help']
      : [],
  )
  removeRedirectUri: string[] = [];
}

export function orNone(address: string): string | null {
  return address === 'none' ? null : address;
}

const LINK_OPTIONS = {
  clientUri: '--client-uri',
  policyUri: '--policy-uri',
  contacts: '--contacts',
} as const;

function optionOf(field: keyof typeof LINK_OPTIONS): string {
  return LINK_OPTIONS[field];
}

const NAME = /^(?!\s)[^\p{C}]{1,100}(?<!\s)$/u;
/** Not a mark, a space, a default-ignorable character or the blank Braille pattern. */
const VISIBLE = /[^\p{M}\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** @param purpose text for messages: where the name is shown */
export function nameProblems(flag: string, name: unknown, purpose: string): string[] {
  if (name === undefined) return [`${flag} is missing: ${purpose}`];
  if (typeof name === 'string' && NAME.test(name) && VISIBLE.test(name)) return [];
  return [
    `${flag} must be 1 to 100 printable characters, at least one of them visible, with no space at either end: ${purpose}`,
  ];
}

export function redirectUriProblems(flag: string, uris: readonly string[], type: ClientType): string[] {
  return uris.flatMap((uri, index) => {
    const problem =
      uris.indexOf(uri) < index ? 'is given twice: give it once' : registrationProblem(uri, type);
    return problem ? [`${flag} ${quoted(uri)} ${problem}`] : [];
  });
}

/** Applies the rules of redirect URIs, because browsers are redirected to both. */
export function postLogoutProblems(flag: string, uris: readonly string[], type: ClientType): string[] {
  if (uris.length > MAX_REDIRECT_URIS) return [`${flag} has more than ${MAX_REDIRECT_URIS}: give fewer`];
  return redirectUriProblems(flag, uris, type);
}

/** Back-Channel Logout 1.0 2.2. Also for public clients: their server gets the logout token. */
export function backchannelProblems(flag: string, uri: string | null): string[] {
  return uri === null ? [] : redirectUriProblems(flag, [uri], 'confidential');
}

export function redirectUriHints(uris: readonly string[], type: ClientType): string[] {
  return uris
    .filter((uri) => type === 'public' && /^http:\/\/localhost(?:[:/?]|$)/.test(uri))
    .map(
      (uri) =>
        `${quoted(uri)} matches any port. Use 127.0.0.1 or [::1] instead of localhost if the application can: each device resolves localhost itself (RFC 8252 8.3)`,
    );
}

export function optionalScopeProblems(
  flag: string,
  optional: readonly string[],
  scopes: readonly string[],
): string[] {
  return optional
    .filter((scope) => !scopes.includes(scope))
    .map((scope) => `${flag} ${quoted(scope)} is not among its scopes: add it to them as well`);
}

export function scopeProblems(flag: string, scopes: readonly string[], catalogue: ScopeCatalogue): string[] {
  return scopes
    .filter((scope) => !catalogue.has(scope))
    .map((scope) => `${flag} ${quoted(scope)} is unknown: the scopes are ${catalogue.names.join(' ')}`);
}

function booleanProblems(flag: string, value: string | undefined): string[] {
  return value === undefined || value === 'true' || value === 'false'
    ? []
    : [`${flag} must be true or false`];
}

export function rotationProblems(rotation: string, dpopBound: boolean): string[] {
  if (rotation !== 'on' && rotation !== 'off') return ['--refresh-token-rotation must be on or off'];
  return rotation === 'off' && !dpopBound
    ? [
        '--refresh-token-rotation off needs --dpop-bound: only a key protects a refresh token that does not rotate (RFC 9700 4.14.2)',
      ]
    : [];
}

function stateProblems(value: string | undefined): string[] {
  return value === undefined || value === 'required' || value === 'optional'
    ? []
    : ['--state must be required or optional'];
}
