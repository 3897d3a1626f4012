import { IsArray, IsBoolean, IsIn, IsInstance, IsOptional, IsString } from 'class-validator';
import { ADMIN_SCOPES, type GrantType, isAdminScope } from '#oauth/client-credentials.js';
import {
  DEFAULT_SIGNING_ALGORITHM,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
} from '#oauth/openid/signing-keys.js';
import type { ClientType } from '#oauth/oauth-client.js';
import { MAX_PRIVATE_SCHEMES, privateSchemeProblem, type PrivateSchemeProblem } from '#oauth/redirect-uri.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import { fieldsOf, Rule } from '#platform/validation/validate.js';
import { type ClientFlags, INITIAL_FLAGS, mapFlags } from '../client-flags.js';
import type { ClientRegistration } from '../client-registration.store.js';
import type { NewClient } from '../client.store.js';
import { ClientMetadata, lengthProblems } from './client-metadata.js';
import { clientKeys, isAbsent } from './keys.js';
import {
  algorithmOf,
  sectorOf,
  sectorProblems,
  storedAlgorithm,
  SUBJECT_TYPES,
  type SubjectType,
  subjectTypeOf,
} from './openid-registration.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    private_scheme_invalid: { readonly given: string; readonly reason: PrivateSchemeProblem };
    private_scheme_confidential: null;
    /** Scopes to choose from; empty for the scopes of the catalogue. */
    scope_missing: { readonly scopes: readonly string[] };
    scope_unknown: { readonly name: string; readonly scopes?: readonly string[] };
    optional_scope_invalid: { readonly given: string };
    grant_type_invalid:
      | { readonly reason: 'no_users' | 'no_keys' | 'fapi2' }
      | { readonly reason: 'api_scope' | 'user_scope'; readonly given: string };
    profile_invalid: null;
    algorithm_invalid: null;
    rotation_invalid: null;
  }
}

/** Makes each flag of a client a field. */
function withFlags<Base extends object>(base: new () => Base): new () => Base & ClientFlags {
  class WithFlags extends (base as new () => object) {
    constructor() {
      super();
      Object.assign(this, INITIAL_FLAGS);
    }
  }
  mapFlags((flag) => IsBoolean()(WithFlags.prototype, flag));
  return WithFlags as new () => Base & ClientFlags;
}

/**
 * Registration of a client. Operators create and change it, client files contain it, and a metadata document describes
 * a part of it. The tables repeat some of the rules as constraints.
 */
export class Registration extends withFlags(ClientMetadata) {
  /** `client_credentials` (RFC 6749 4.4) for an API client, which calls the operators' HTTP API. */
  @IsIn(['authorization_code', 'client_credentials'])
  @IsString()
  @Rule(apiClientProblems)
  grantType: GrantType = 'authorization_code';

  /** True if the client may use the device authorization grant (RFC 8628), and then needs no redirect URI. */
  @IsBoolean()
  @Rule(({ deviceGrant, profile }: Registration) =>
    deviceGrant && profile === 'fapi2'
      ? [problem('grant_type_invalid', 'deviceGrant', { reason: 'fapi2' })]
      : [],
  )
  deviceGrant = false;

  /** Schemes of redirect URIs that need not be reversed domain names, because the maker has fixed the callback. */
  @IsString({ each: true })
  @IsArray()
  @Rule(({ privateSchemes, type }: Registration) => {
    // Only public clients have private-use schemes, because those must use PKCE (RFC 8252 7.1, 8.1).
    if (privateSchemes.length > 0 && type === 'confidential')
      return [problem('private_scheme_confidential', 'privateSchemes')];
    return [
      ...lengthProblems('privateSchemes', privateSchemes, MAX_PRIVATE_SCHEMES),
      ...privateSchemes.flatMap((given, index) => {
        const reason = privateSchemeProblem(given);
        return reason
          ? [problem('private_scheme_invalid', ['privateSchemes', index], { given, reason })]
          : [];
      }),
    ];
  })
  privateSchemes: string[] = [];

  @IsString({ each: true })
  @IsArray()
  @Rule(({ scopes, grantType }: Registration) => {
    const isApiClient = grantType === 'client_credentials';
    if (scopes.length === 0)
      return [problem('scope_missing', 'scopes', { scopes: isApiClient ? ADMIN_SCOPES : [] })];
    const reason = isApiClient ? 'user_scope' : 'api_scope';
    return scopes.flatMap((given, index) =>
      isAdminScope(given) === isApiClient
        ? []
        : [problem('grant_type_invalid', ['scopes', index], { reason, given })],
    );
  })
  scopes: string[] = [];

  /** Subset of `scopes` that users may decline individually. */
  @IsString({ each: true })
  @IsArray()
  @Rule(({ optionalScopes, scopes }: Registration) =>
    optionalScopes.flatMap((given, index) =>
      scopes.includes(given) ? [] : [problem('optional_scope_invalid', ['optionalScopes', index], { given })],
    ),
  )
  optionalScopes: string[] = [];

  @IsIn(SIGNING_ALGORITHMS)
  @IsString()
  @Rule(({ idTokenAlg, profile }: Registration) =>
    profile === 'fapi2' && idTokenAlg === 'RS256' ? [problem('algorithm_invalid', 'idTokenAlg')] : [],
  )
  idTokenAlg: SigningAlgorithm = DEFAULT_SIGNING_ALGORITHM;

  @IsIn(SUBJECT_TYPES)
  @IsString()
  @Rule(({ subject, redirectUris }: Registration) =>
    subject === 'pairwise' ? sectorProblems(redirectUris) : [],
  )
  subject: SubjectType = 'public';

  /** FAPI 2.0 Security Profile; section 5.3.2 has its rules. */
  @IsIn(['fapi2'])
  @IsString()
  @IsOptional()
  @Rule((client: Registration) => {
    const follows = hasGivenKeys(client) && client.requirePar && !client.refreshTokenRotation;
    return client.profile !== 'fapi2' || follows ? [] : [problem('profile_invalid', 'profile')];
  })
  profile: 'fapi2' | null = null;

  @IsBoolean()
  dpopBound = false;

  /** Only a key protects a refresh token that does not rotate (RFC 9700 4.14.2). */
  @IsBoolean()
  @Rule(({ refreshTokenRotation, dpopBound }: Registration) =>
    refreshTokenRotation || dpopBound ? [] : [problem('rotation_invalid', 'refreshTokenRotation')],
  )
  refreshTokenRotation = true;

  /** Content of a PNG, JPEG or WebP file, which `readLogo` checks. */
  @IsInstance(Uint8Array)
  @IsOptional()
  logo?: Buffer | null;
}

export const hasGivenKeys = ({ jwks, jwksUri }: Registration): boolean =>
  !(isAbsent(jwks) && isAbsent(jwksUri));

/** Fields that have no effect without users. */
const USER_FIELDS = [
  'redirectUris',
  'privateSchemes',
  'postLogoutRedirectUris',
  'backchannelLogoutUri',
  'optionalScopes',
  'firstParty',
  'requirePar',
  'subject',
  'refreshTokenRotation',
  'profile',
  'deviceGrant',
] as const satisfies readonly (keyof Registration)[];

/** Rejects fields that would have no effect (RFC 6749 4.4). */
function apiClientProblems(client: Registration): Problem[] {
  if (client.grantType !== 'client_credentials') return [];
  const initial = new Registration();
  return [
    ...USER_FIELDS.filter((field) => String(client[field]) !== String(initial[field])).map((field) =>
      problem('grant_type_invalid', field, { reason: 'no_users' }),
    ),
    ...(hasGivenKeys(client) ? [] : [problem('grant_type_invalid', 'jwks', { reason: 'no_keys' })]),
  ];
}

/** Skips the scopes of the HTTP API, which are not in the catalogue. */
export function scopeProblems(
  field: string,
  scopes: readonly string[],
  catalogue: ScopeCatalogue,
): Problem<'scope_unknown'>[] {
  return scopes.flatMap((name, index) =>
    catalogue.has(name) || isAdminScope(name)
      ? []
      : [problem('scope_unknown', [field, index], { name, scopes: catalogue.names })],
  );
}

/** @param registration without a problem */
export function storedRegistration({
  type: _type,
  logo: _logo,
  subject,
  refreshTokenRotation,
  ...registration
}: Registration): ClientRegistration {
  const { redirectUris, scopes, idTokenAlg } = registration;
  return {
    ...registration,
    ...clientKeys(registration),
    scopes: [...new Set(scopes)],
    idTokenAlg: storedAlgorithm(idTokenAlg),
    sector: subject === 'pairwise' ? sectorOf(redirectUris) : null,
    keepsRefreshToken: !refreshTokenRotation,
  };
}

/** New client without its secret. */
export type CheckedClient = ClientRegistration & Omit<NewClient, 'secretHash' | keyof ClientRegistration>;

/** @param registration without a problem */
export function newClientOf(registration: Registration): CheckedClient {
  return { ...storedRegistration(registration), type: registration.type };
}

const FIELDS = fieldsOf(Registration).filter((field) => field !== 'logo');

/** Returns the input that gives this registration. */
export function givenRegistration(client: ClientRegistration & { readonly type: ClientType }): object {
  const given: Readonly<Record<string, unknown>> = {
    ...client,
    idTokenAlg: algorithmOf(client),
    subject: subjectTypeOf(client),
    refreshTokenRotation: !client.keepsRefreshToken,
  };
  return Object.fromEntries(FIELDS.map((field) => [field, given[field]]));
}

/**
 * Returns the problems that the registration did not have before. What is registered stays, even if it could not be
 * registered now, such as a scope that is no longer declared.
 */
export function newProblems(problems: readonly Problem[], before: readonly Problem[]): Problem[] {
  const keyOf = ({ id, path: [field], values }: Problem) => JSON.stringify([id, field, values]);
  const known = new Set(before.map(keyOf));
  return problems.filter((found) => !known.has(keyOf(found)));
}
