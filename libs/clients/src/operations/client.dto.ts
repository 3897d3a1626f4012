import { applyDecorators } from '@nestjs/common';
import { IsArray, IsBoolean, IsIn, IsInstance, IsOptional, IsString } from 'class-validator';
import { IsJson, MayBeAbsent, WholeNumber } from '#platform/validation/validate.js';
import { ADMIN_SCOPES, type GrantType } from '#oauth/client-credentials.js';
import { isClientId } from '#oauth/oauth-client.js';
import type { SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { DtoRule, Rule } from '#operations/validate.js';
import { type ClientFlags, INITIAL_FLAGS, mapFlags } from '../client-flags.js';
import { CLIENT_KINDS, type ClientKind } from '../client.store.js';
import { Cursor, FilterDto, Limit } from '#operations/list.js';
import { documentUrlProblem } from '#oauth/registration/metadata-document.js';
import { quoted } from '#oauth/text.js';
import { linkProblems } from '#oauth/registration/client-links.js';
import {
  backchannelProblems,
  MAX_REDIRECT_URIS,
  named,
  nameProblems,
  postLogoutProblems,
  privateSchemeProblems,
  redirectUriProblems,
  rotationProblems,
} from '#oauth/registration/client-rules.js';
import {
  algorithmProblems,
  defaultAlgorithm,
  profileAlgorithmProblems,
  sectorProblems,
  type SubjectType,
  subjectProblems,
} from './openid-registration.js';

const PURPOSE = 'users see it when they allow access';

/** Makes each flag of a client a field. */
function withFlags<Flags extends Partial<ClientFlags>>(initial: Flags): new () => Flags {
  class DtoWithFlags {
    constructor() {
      Object.assign(this, initial);
    }
  }
  const isFlag = applyDecorators(IsBoolean(), MayBeAbsent());
  mapFlags((flag) => isFlag(DtoWithFlags.prototype, flag));
  return DtoWithFlags as new () => Flags;
}

/** `checkNewClient` checks the logo, the keys and the scopes. */
export class NewClientDto extends withFlags(INITIAL_FLAGS) {
  @IsString()
  @MayBeAbsent()
  @Rule('name_invalid', ({ name }: NewClientDto) => nameProblems('‹name›', name, PURPOSE))
  name: string;

  /** `client_credentials` (RFC 6749 4.4) for an API client, which calls the operators' HTTP API. */
  @IsString()
  @Rule('grant_type_unknown', ({ grantType }: NewClientDto) =>
    ['authorization_code', 'client_credentials'].includes(grantType)
      ? []
      : ['‹grantType› must be authorization_code or client_credentials; for devices use ‹deviceGrant›'],
  )
  grantType: GrantType = 'authorization_code';

  /** True if the client may use the device authorization grant (RFC 8628), and then needs no redirect URI. */
  @IsBoolean()
  deviceGrant = false;

  @IsBoolean()
  @Rule('public_client_with_keys', ({ public: isPublic, ...keys }: NewClientDto) =>
    isPublic && hasKeys(keys)
      ? ['‹public› and keys exclude each other: a public client cannot keep a private key either']
      : [],
  )
  public = false;

  @IsString()
  @MayBeAbsent()
  @Rule('algorithm_unknown', ({ idTokenAlg, profile }: NewClientDto) => [
    ...algorithmProblems('‹idTokenAlg›', idTokenAlg),
    ...profileAlgorithmProblems('‹idTokenAlg›', profile, idTokenAlg ?? defaultAlgorithm(profile)),
  ])
  idTokenAlg?: SigningAlgorithm;

  @IsString()
  @Rule('subject_invalid', ({ subject, redirectUris }: NewClientDto) => [
    ...subjectProblems('‹subject›', subject),
    ...(subject === 'pairwise' ? sectorProblems('‹redirectUris›', redirectUris, null) : []),
  ])
  subject: SubjectType = 'public';

  @IsString({ each: true })
  @IsArray()
  @Rule(
    'redirect_uri_invalid',
    ({ redirectUris: uris, privateSchemes, public: isPublic, ...grant }: NewClientDto) => {
      if (uris.length === 0 && (grant.deviceGrant || grant.grantType === 'client_credentials')) return [];
      if (uris.length === 0)
        return [
          '‹redirectUris› is missing: give the address users return to, like https://app.example.com/callback',
        ];
      if (uris.length > MAX_REDIRECT_URIS)
        return [`‹redirectUris› is given more than ${MAX_REDIRECT_URIS} times: give fewer`];
      return named('‹redirectUris›', redirectUriProblems(uris, { type: typeOf(isPublic), privateSchemes }));
    },
  )
  redirectUris: string[] = [];

  /** Schemes of redirect URIs that need not be reversed domain names, because the maker has fixed the callback. */
  @IsString({ each: true })
  @IsArray()
  @Rule('private_scheme_invalid', ({ privateSchemes, public: isPublic }: NewClientDto) =>
    named('‹privateSchemes›', privateSchemeProblems(privateSchemes, typeOf(isPublic))),
  )
  privateSchemes: string[] = [];

  @IsString({ each: true })
  @IsArray()
  @Rule(
    'post_logout_redirect_uri_invalid',
    ({ postLogoutRedirectUris: uris, privateSchemes, public: isPublic }: NewClientDto) =>
      named('‹postLogoutRedirectUris›', postLogoutProblems(uris, { type: typeOf(isPublic), privateSchemes })),
  )
  postLogoutRedirectUris: string[] = [];

  @IsString()
  @IsOptional()
  @Rule('backchannel_logout_uri_invalid', ({ backchannelLogoutUri: uri }: NewClientDto) =>
    named('‹backchannelLogoutUri›', backchannelProblems(uri)),
  )
  backchannelLogoutUri: string | null = null;

  /** JWK Set with public keys (RFC 7517 5). */
  @IsJson()
  @IsOptional()
  jwks?: string | object | null;

  @IsString()
  @IsOptional()
  jwksUri?: string | null;

  @IsString()
  @MayBeAbsent()
  @Rule('profile_invalid', ({ profile, ...keys }: NewClientDto) => {
    if (profile === undefined) return [];
    if (profile !== 'fapi2') return ['‹profile› must be fapi2'];
    return hasKeys(keys) ? [] : ['‹profile› fapi2 needs ‹jwks› or ‹jwksUri›'];
  })
  profile?: string;

  @IsBoolean()
  dpopBound = false;

  @IsBoolean()
  @MayBeAbsent()
  @Rule('rotation_invalid', ({ refreshTokenRotation: rotates, dpopBound, profile }: NewClientDto) => {
    if (profile === 'fapi2' && rotates === true)
      return ['‹profile› fapi2 and ‹refreshTokenRotation› on exclude each other'];
    return rotationProblems(rotates, dpopBound || profile === 'fapi2');
  })
  refreshTokenRotation?: boolean;

  @IsString()
  @IsOptional()
  @Rule('links_invalid', ({ clientUri }: NewClientDto) => linkProblems({ clientUri }, fieldName))
  clientUri: string | null = null;

  @IsString()
  @IsOptional()
  @Rule('links_invalid', ({ policyUri }: NewClientDto) => linkProblems({ policyUri }, fieldName))
  policyUri: string | null = null;

  @IsString({ each: true })
  @IsArray()
  @Rule('links_invalid', ({ contacts }: NewClientDto) => linkProblems({ contacts }, fieldName))
  contacts: string[] = [];

  /** The default scopes if absent; required for `client_credentials`. */
  @IsString({ each: true })
  @IsArray()
  @MayBeAbsent()
  @Rule('scope_missing', ({ scopes, grantType }: NewClientDto) => {
    if (grantType === 'client_credentials')
      return scopes?.length ? [] : [`‹scopes› is missing: give one or more of ${ADMIN_SCOPES.join(', ')}`];
    return scopes?.length === 0 ? ['‹scopes› is empty: leave it out for the default scopes'] : [];
  })
  scopes?: string[];

  @IsString({ each: true })
  @IsArray()
  optionalScopes: string[] = [];

  /** Content of a PNG, JPEG or WebP file. */
  @IsInstance(Uint8Array)
  @IsOptional()
  logo?: Buffer | null;
}

export class DocumentClientDto {
  @IsString()
  @MayBeAbsent()
  @Rule('metadata_url_invalid', ({ metadataUrl: url }: DocumentClientDto) => {
    const problem = documentUrlProblem(url);
    return problem === null ? [] : [`‹metadataUrl› ${quoted(url)} ${problem}`];
  })
  metadataUrl: string;

  /** Defaults to the scopes of the document, or to every scope if the document names no known scope. */
  @IsString({ each: true })
  @IsArray()
  @MayBeAbsent()
  @Rule('scope_missing', ({ scopes }: DocumentClientDto) =>
    scopes?.length === 0 ? ['‹scopes› is empty: leave it out for the scopes of the document'] : [],
  )
  scopes?: string[];

  @IsString({ each: true })
  @IsArray()
  optionalScopes: string[] = [];
}

/** Absent fields stay unchanged. `changedRegistration` performs the checks that depend on the registration. */
@DtoRule('nothing_to_change', (changes: ClientChangesDto) =>
  Object.entries(changes).every(
    ([field, value]) =>
      value === undefined ||
      (/^(?:add|remove)/.test(field) && Array.isArray(value) && value.length === 0) ||
      ['confirmConsole', 'confirmNewSubjects', 'expectedVersion'].includes(field),
  )
    ? ['nothing to change: give at least one field']
    : [],
)
export class ClientChangesDto extends withFlags<Partial<ClientFlags>>({}) {
  @IsString()
  @MayBeAbsent()
  @Rule('name_invalid', ({ name }: ClientChangesDto) =>
    name === undefined ? [] : nameProblems('‹name›', name, PURPOSE),
  )
  name?: string;

  /** Replaces the whole list. */
  @IsString({ each: true })
  @IsArray()
  @MayBeAbsent()
  @Rule('scope_missing', ({ scopes }: ClientChangesDto) =>
    scopes?.length === 0 ? ['‹scopes› is empty: give at least one'] : [],
  )
  @Rule('fields_exclude_each_other', ({ scopes, addScopes, removeScopes }: ClientChangesDto) =>
    scopes !== undefined && addScopes.length + removeScopes.length > 0
      ? ['‹scopes› replaces all scopes: leave it out, or ‹addScopes› and ‹removeScopes›']
      : [],
  )
  scopes?: string[];

  @IsString({ each: true })
  @IsArray()
  addScopes: string[] = [];

  @IsString({ each: true })
  @IsArray()
  removeScopes: string[] = [];

  /** Replaces the whole list. An empty list makes every scope required. */
  @IsString({ each: true })
  @IsArray()
  @MayBeAbsent()
  optionalScopes?: string[];

  /** Without the device grant, a client of `authorization_code` needs a redirect URI. */
  @IsBoolean()
  @MayBeAbsent()
  deviceGrant?: boolean;

  /** Replaces the whole list. */
  @IsString({ each: true })
  @IsArray()
  @MayBeAbsent()
  postLogoutRedirectUris?: string[];

  @IsString()
  @MayBeAbsent()
  @Rule('algorithm_unknown', ({ idTokenAlg }: ClientChangesDto) =>
    algorithmProblems('‹idTokenAlg›', idTokenAlg),
  )
  idTokenAlg?: SigningAlgorithm;

  @IsString()
  @MayBeAbsent()
  @Rule('subject_invalid', ({ subject }: ClientChangesDto) => subjectProblems('‹subject›', subject))
  subject?: SubjectType;

  @WholeNumber(1, 2 ** 31)
  @MayBeAbsent()
  expectedVersion?: number;

  @IsBoolean()
  confirmNewSubjects = false;

  @IsBoolean()
  confirmConsole = false;

  @IsString()
  @IsOptional()
  @Rule('backchannel_logout_uri_invalid', ({ backchannelLogoutUri: uri }: ClientChangesDto) =>
    named('‹backchannelLogoutUri›', backchannelProblems(uri ?? null)),
  )
  backchannelLogoutUri?: string | null;

  @IsString()
  @IsOptional()
  @Rule('links_invalid', ({ clientUri = null }: ClientChangesDto) => linkProblems({ clientUri }, fieldName))
  clientUri?: string | null;

  @IsString()
  @IsOptional()
  @Rule('links_invalid', ({ policyUri = null }: ClientChangesDto) => linkProblems({ policyUri }, fieldName))
  policyUri?: string | null;

  /** Replaces the whole list. */
  @IsString({ each: true })
  @IsArray()
  @MayBeAbsent()
  @Rule('links_invalid', ({ contacts = [] }: ClientChangesDto) => linkProblems({ contacts }, fieldName))
  contacts?: string[];

  /** Content of a PNG, JPEG or WebP file. */
  @IsInstance(Uint8Array)
  @IsOptional()
  logo?: Buffer | null;

  /** JWK Set with public keys (RFC 7517 5). */
  @IsJson()
  @IsOptional()
  jwks?: string | object | null;

  @IsString()
  @IsOptional()
  jwksUri?: string | null;

  /** JWK (RFC 7517 4) or JWK Set (5) with public keys. */
  @IsJson()
  @MayBeAbsent()
  @Rule('fields_exclude_each_other', ({ jwks, jwksUri, addKeys, removeKeys }: ClientChangesDto) =>
    (jwks !== undefined || jwksUri !== undefined) && (addKeys !== undefined || removeKeys.length > 0)
      ? ['‹jwks› and ‹jwksUri› replace all keys: leave them out, or ‹addKeys› and ‹removeKeys›']
      : [],
  )
  addKeys?: string | object;

  /** The `kid` or the thumbprint (RFC 7638) of each key. */
  @IsString({ each: true })
  @IsArray()
  removeKeys: string[] = [];

  @IsBoolean()
  @MayBeAbsent()
  dpopBound?: boolean;

  @IsBoolean()
  @MayBeAbsent()
  refreshTokenRotation?: boolean;

  /** Replaces the whole list. */
  @IsString({ each: true })
  @IsArray()
  @MayBeAbsent()
  @Rule(
    'fields_exclude_each_other',
    ({ redirectUris, addRedirectUris, removeRedirectUris }: ClientChangesDto) =>
      redirectUris !== undefined && addRedirectUris.length + removeRedirectUris.length > 0
        ? ['‹redirectUris› replaces all: leave it out, or ‹addRedirectUris› and ‹removeRedirectUris›']
        : [],
  )
  redirectUris?: string[];

  @IsString({ each: true })
  @IsArray()
  addRedirectUris: string[] = [];

  @IsString({ each: true })
  @IsArray()
  removeRedirectUris: string[] = [];

  /** Replaces the whole list. */
  @IsString({ each: true })
  @IsArray()
  @MayBeAbsent()
  privateSchemes?: string[];
}

/** `search` is part of the name, client_id, a redirect URI or a contact, in any case; or `id:` and the client_id. */
export class ClientFilterDto extends FilterDto {
  @IsIn(CLIENT_KINDS)
  @IsString()
  @MayBeAbsent()
  kind?: ClientKind;
}

export class ClientListDto extends ClientFilterDto {
  @Cursor(isClientId)
  cursor?: string;

  @Limit()
  limit = 100;
}

export class HandoverDto {
  @IsString()
  secretDelivery = 'delivered to you separately, through a channel that you agree on with the operator';

  /** URL of the integration guide; absent if the operator sends the guide as a file. */
  @IsString()
  @MayBeAbsent()
  @Rule('guide_invalid', ({ guide }: HandoverDto) =>
    guide === undefined || /^https?:\/\/\S+$/.test(guide) ? [] : ['‹guide› must be an http or https URL'],
  )
  guide?: string;
}

const hasKeys = ({ jwks = null, jwksUri = null }: Pick<NewClientDto, 'jwks' | 'jwksUri'>): boolean =>
  (jwks ?? jwksUri) !== null;

const typeOf = (isPublic: boolean) => (isPublic ? 'public' : 'confidential');

const fieldName = (field: string): string => `‹${field}›`;
