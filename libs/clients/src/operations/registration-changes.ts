import { mapFlags } from '../client-flags.js';
import type { ChangedRegistration, ClientRegistration } from '../client-registration.store.js';
import type { ClientLogo } from '../client.js';
import { type ClientJwk, MAX_CLIENT_KEYS } from '#oauth/client-assertion/client-keys.js';
import { type ClientKeys, type ClientType, hasKeys } from '#oauth/oauth-client.js';
import { thumbprintOf } from '#oauth/jwk.js';
import {
  MAX_REDIRECT_URIS,
  optionalScopeProblems,
  postLogoutProblems,
  privateSchemeProblems,
  redirectUriProblems,
  rotationProblems,
  schemesInUse,
  scopeProblems,
} from '#oauth/registration/client-rules.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { type Problem, refuseInvalid } from '#operations/administration.error.js';
import { checked, type Input } from '#operations/validate.js';
import { quoted } from '#operations/wording.js';
import { ClientChangesDto } from './client.dto.js';
import { readAddedKeys, readKeys } from './keys.js';
import {
  profileAlgorithmProblems,
  sectorOf,
  sectorProblems,
  storedAlgorithm,
  subjectTypeOf,
} from './openid-registration.js';
import { ofField, ofGrantType, readLogo } from './registration.js';

export interface CheckedChanges {
  readonly changes: ClientChangesDto;
  /** Null removes the logo; undefined keeps the logo. */
  readonly logo?: ClientLogo | null;
  readonly keys?: ClientKeys;
  readonly addedKeys?: readonly ClientJwk[];
}

/** Makes the checks that do not depend on the registration. @throws AdministrationError that lists every problem */
export async function checkClientChanges(
  input: Input<ClientChangesDto>,
  catalogueOf: () => ScopeCatalogue,
): Promise<CheckedChanges> {
  const { dto: changes, problems } = checked(ClientChangesDto, input);
  const { scopes = [], addScopes } = changes;
  const catalogue = scopes.length + addScopes.length > 0 ? catalogueOf() : null;
  const unknown = (field: string, names: readonly string[]) =>
    ofField(field, 'scope_unknown', catalogue ? scopeProblems(names, catalogue) : []);
  const { problems: logoProblems, ...logo } = await readLogo(changes.logo);
  const { problems: keyProblems, ...keys } = readKeys(changes);
  const { problems: addedKeyProblems, ...addedKeys } = readAddedKeys(changes.addKeys);
  refuseInvalid([
    ...problems,
    ...unknown('scopes', scopes),
    ...unknown('addScopes', addScopes),
    ...logoProblems,
    ...keyProblems,
    ...addedKeyProblems,
  ]);
  return { changes, ...logo, ...keys, ...addedKeys };
}

export interface RegisteredState {
  readonly clientId: string;
  readonly type: ClientType;
  readonly hasSecrets: boolean;
  readonly hasDocument: boolean;
}

/** @throws AdministrationError that lists every problem */
export function changedRegistration(
  state: RegisteredState,
  current: ClientRegistration,
  input: CheckedChanges,
): ChangedRegistration {
  const { changes } = input;
  const changed = applied(current, input);
  const problems = [
    ...redirectUriChangeProblems(state, current, changes, changed),
    ...scopeChangeProblems(state, current, changes, changed),
    ...keyChangeProblems(state, current, input, changed),
    ...keyProblems(state, changed),
    ...ruleProblems(changes, changed),
    ...(state.hasDocument ? documentProblems(current, changed) : []),
    ...ofGrantType(changed),
  ];
  refuseInvalid(problems.map((problem) => ofGivenField(problem, changes)));
  return changed;
}

/** Fields that change the same part of a registration, or parts that depend on each other. */
const RELATED: readonly (readonly (keyof ClientChangesDto)[])[] = [
  ['redirectUris', 'addRedirectUris', 'removeRedirectUris', 'subject'],
  ['scopes', 'addScopes', 'removeScopes'],
  ['jwks', 'jwksUri', 'addKeys', 'removeKeys'],
  ['refreshTokenRotation', 'dpopBound'],
];
const OF_PROFILE = ['requirePar', 'refreshTokenRotation', 'jwks', 'jwksUri', 'removeKeys'] as const;

/** Moves a problem of a field that the caller did not give to the field that caused the problem. */
function ofGivenField(problem: Problem, changes: ClientChangesDto): Problem {
  if (!('message' in problem)) return problem;
  const isGiven = (field: keyof ClientChangesDto) => {
    const { [field]: value } = changes;
    return value !== undefined && !(/^(?:add|remove)/.test(field) && (value as string[]).length === 0);
  };
  const name = problem.field as keyof ClientChangesDto;
  if (isGiven(name)) return problem;
  const related =
    problem.field === 'profile' ? OF_PROFILE : (RELATED.find((fields) => fields.includes(name)) ?? []);
  const field = related.find(isGiven);
  return field === undefined ? problem : { ...problem, field };
}

/** A removed scope is also removed from the optional scopes. */
function applied(current: ClientRegistration, input: CheckedChanges): ChangedRegistration {
  const { changes, logo } = input;
  const keys = keysAfter(current, input);
  const { optionalScopes = current.optionalScopes, refreshTokenRotation: rotates } = changes;
  const scopes = scopesAfter(current, changes);
  return {
    name: changes.name ?? current.name,
    redirectUris: redirectUrisAfter(current, changes),
    privateSchemes: changes.privateSchemes ?? current.privateSchemes,
    scopes,
    optionalScopes: optionalScopes.filter((optional) => scopes.includes(optional)),
    ...mapFlags((flag) => changes[flag] ?? current[flag]),
    postLogoutRedirectUris: changes.postLogoutRedirectUris ?? current.postLogoutRedirectUris,
    backchannelLogoutUri: orCurrent(changes.backchannelLogoutUri, current.backchannelLogoutUri),
    idTokenAlg: changes.idTokenAlg === undefined ? current.idTokenAlg : storedAlgorithm(changes.idTokenAlg),
    sector: newSector(current, changes),
    clientUri: orCurrent(changes.clientUri, current.clientUri),
    policyUri: orCurrent(changes.policyUri, current.policyUri),
    contacts: changes.contacts ?? current.contacts,
    jwks: keys.jwks,
    jwksUri: keys.jwksUri,
    dpopBound: changes.dpopBound ?? current.dpopBound,
    keepsRefreshToken: rotates === undefined ? current.keepsRefreshToken : !rotates,
    profile: current.profile,
    grantType: current.grantType,
    deviceGrant: changes.deviceGrant ?? current.deviceGrant,
    ...(logo !== undefined && { logo }),
  };
}

const orCurrent = (given: string | null | undefined, current: string | null): string | null =>
  given === undefined ? current : given;

function scopesAfter(
  current: ClientRegistration,
  { scopes, addScopes, removeScopes }: ClientChangesDto,
): readonly string[] {
  if (scopes) return [...new Set(scopes)];
  return [
    ...current.scopes.filter((scope) => !removeScopes.includes(scope)),
    ...addScopes.filter((scope) => !current.scopes.includes(scope)),
  ];
}

function keysAfter(
  current: ClientKeys,
  { changes: { removeKeys }, keys = current, addedKeys = [] }: CheckedChanges,
): ClientKeys {
  if (addedKeys.length === 0 && (removeKeys.length === 0 || keys.jwks === null)) return keys;
  return { ...keys, jwks: { keys: [...keptKeys(keys, removeKeys), ...addedKeys] } };
}

const keptKeys = ({ jwks }: ClientKeys, removed: readonly string[]): ClientJwk[] =>
  (jwks?.keys ?? []).filter((key) => !namesOf(key).some((name) => removed.includes(name)));

const namesOf = (key: ClientJwk): string[] => [
  ...(key.kid === undefined ? [] : [key.kid]),
  thumbprintOf(key),
];

type CurrentUris = Pick<ClientRegistration, 'sector' | 'redirectUris'>;

function redirectUrisAfter(
  current: Pick<ClientRegistration, 'redirectUris'>,
  { redirectUris, addRedirectUris, removeRedirectUris }: ClientChangesDto,
): readonly string[] {
  if (redirectUris) return [...new Set(redirectUris)];
  return [...current.redirectUris.filter((uri) => !removeRedirectUris.includes(uri)), ...addRedirectUris];
}

/** Keeps the sector unless `subject` is given, because every redirect URI has the host of the sector. */
export function newSector(current: CurrentUris, changes: ClientChangesDto): string | null {
  if (changes.subject === undefined) return current.sector;
  return changes.subject === 'public' ? null : sectorOf(redirectUrisAfter(current, changes));
}

function redirectUriChangeProblems(
  { clientId, type }: RegisteredState,
  current: ClientRegistration,
  changes: ClientChangesDto,
  changed: ChangedRegistration,
): Problem[] {
  const { addRedirectUris: added, removeRedirectUris: removed, postLogoutRedirectUris = [] } = changes;
  const { redirectUris, privateSchemes, grantType, deviceGrant } = changed;
  const rules = { type, privateSchemes };
  const withdrawn = current.privateSchemes.filter((scheme) => !privateSchemes.includes(scheme));
  const field = changes.redirectUris ? 'redirectUris' : 'addRedirectUris';
  const kept = current.redirectUris.filter((uri) => !removed.includes(uri));
  const newUris = changes.redirectUris?.filter((uri) => !current.redirectUris.includes(uri)) ?? added;
  const isMissing = redirectUris.length === 0 && grantType !== 'client_credentials' && !deviceGrant;
  return [
    ...notRegistered('removeRedirectUris', removed, current.redirectUris, clientId),
    ...registeredAlready('addRedirectUris', added, kept),
    ...ofField(field, 'redirect_uri_invalid', redirectUriProblems(newUris, rules)),
    ...subjectProblems(field, current, changes, redirectUris),
    ...ofField(
      'postLogoutRedirectUris',
      'post_logout_redirect_uri_invalid',
      postLogoutProblems(postLogoutRedirectUris, rules),
    ),
    ...ofField('privateSchemes', 'private_scheme_invalid', [
      ...privateSchemeProblems(changes.privateSchemes ?? [], type),
      ...schemesInUse([...redirectUris, ...changed.postLogoutRedirectUris], withdrawn),
    ]),
    ...problemIf(isMissing, {
      id: 'redirect_uri_missing',
      field,
      message: 'no redirect URI would be left: add the new one in the same command',
    }),
    ...problemIf(redirectUris.length > MAX_REDIRECT_URIS, {
      id: 'redirect_uri_limit',
      field,
      message: `more than ${MAX_REDIRECT_URIS} redirect URIs: remove some in the same command`,
    }),
  ];
}

function subjectProblems(
  field: string,
  current: ClientRegistration,
  { subject }: ClientChangesDto,
  redirectUris: readonly string[],
): Problem[] {
  if ((subject ?? subjectTypeOf(current)) !== 'pairwise') return [];
  const name = subject ? 'redirect URI' : `‹${field}›`;
  const sector = subject === undefined ? current.sector : null;
  return sectorProblems(name, redirectUris, sector).map((message) => ({
    id: 'redirect_uri_invalid',
    field,
    message,
  }));
}

function scopeChangeProblems(
  { clientId }: RegisteredState,
  current: ClientRegistration,
  { addScopes, removeScopes, optionalScopes = [] }: ClientChangesDto,
  { scopes }: ChangedRegistration,
): Problem[] {
  return [
    ...notRegistered('removeScopes', removeScopes, current.scopes, clientId),
    ...registeredAlready('addScopes', addScopes, current.scopes),
    ...ofField('optionalScopes', 'optional_scope_invalid', optionalScopeProblems(optionalScopes, scopes)),
    ...problemIf(scopes.length === 0, {
      id: 'scope_missing',
      field: 'removeScopes',
      message: 'no scope would be left: add one in the same command',
    }),
  ];
}

function keyChangeProblems(
  { clientId }: RegisteredState,
  current: ClientRegistration,
  { changes: { removeKeys }, addedKeys = [] }: CheckedChanges,
  { jwks }: ChangedRegistration,
): Problem[] {
  if (addedKeys.length + removeKeys.length === 0) return [];
  const field = addedKeys.length > 0 ? 'addKeys' : 'removeKeys';
  if (current.jwksUri !== null) {
    const message = 'the keys of the application are at its ‹jwksUri›: change them there, or give ‹jwks›';
    return [{ id: 'keys_at_jwks_uri', field, message }];
  }
  const kept = keptKeys(current, removeKeys);
  const known = new Set(kept.map(thumbprintOf));
  const kids = new Set(kept.map(({ kid }) => kid));
  const isKnown = (key: ClientJwk) => known.has(thumbprintOf(key));
  const sameKid = addedKeys.filter((key) => key.kid !== undefined && !isKnown(key) && kids.has(key.kid));
  return [
    ...notRegistered('removeKeys', removeKeys, (current.jwks?.keys ?? []).flatMap(namesOf), clientId),
    ...registeredAlready('addKeys', addedKeys.filter(isKnown).map(thumbprintOf), [...known]),
    ...sameKid.map(({ kid = '' }) => ({
      id: 'kid_registered',
      field: 'addKeys',
      message: `another key has the kid ${quoted(kid)}: an assertion selects its key by it`,
    })),
    ...problemIf((jwks?.keys.length ?? 0) > MAX_CLIENT_KEYS, {
      id: 'key_limit',
      field,
      message: `more than ${MAX_CLIENT_KEYS} keys: remove the retired ones`,
    }),
    ...problemIf(jwks?.keys.length === 0, {
      id: 'key_missing',
      field,
      message: 'no key would be left, and the application could not authenticate: add the new one first',
    }),
  ];
}

function keyProblems(
  { clientId, type, hasSecrets }: RegisteredState,
  changed: ChangedRegistration,
): Problem[] {
  if (!hasKeys(changed)) return [];
  return [
    ...problemIf(type === 'public', {
      id: 'public_client_with_keys',
      field: 'jwks',
      message: 'a public client has no keys: it uses PKCE (RFC 6749 2.1)',
    }),
    ...problemIf(hasSecrets, {
      id: 'client_has_secrets',
      field: 'jwks',
      message:
        'the application has a secret, and may not have keys as well (RFC 6749 2.3): revoke it first, with ‹force›',
      next: { text: 'See', command: ['client', 'secret', 'list', clientId] },
    }),
  ];
}

function ruleProblems({ idTokenAlg }: ClientChangesDto, changed: ChangedRegistration): Problem[] {
  const { dpopBound, keepsRefreshToken, profile, requirePar } = changed;
  const isFapi = keepsRefreshToken && hasKeys(changed) && requirePar;
  const rotation = rotationProblems(!keepsRefreshToken, dpopBound);
  const algorithm =
    idTokenAlg === undefined ? [] : profileAlgorithmProblems('‹idTokenAlg›', profile, idTokenAlg);
  return [
    ...rotation.map((message) => ({ id: 'rotation_invalid', field: 'refreshTokenRotation', message })),
    ...problemIf(profile === 'fapi2' && !isFapi, {
      id: 'profile_violated',
      field: 'profile',
      message:
        'the application is registered for fapi2, which requires keys, pushed requests, and refresh tokens that do not rotate (FAPI 2.0 5.3.2.1)',
    }),
    ...algorithm.map((message) => ({ id: 'profile_violated', field: 'idTokenAlg', message })),
  ];
}

/**
 * Fields that the metadata document describes, and `firstParty` and `sector`, which are unsafe because the document can
 * change.
 */
const DOCUMENT_FIELDS = [
  'name',
  'redirectUris',
  'privateSchemes',
  'postLogoutRedirectUris',
  'backchannelLogoutUri',
  'clientUri',
  'policyUri',
  'contacts',
  'jwks',
  'jwksUri',
  'firstParty',
  'sector',
] as const;

function documentProblems(current: ClientRegistration, changed: ChangedRegistration): Problem[] {
  return DOCUMENT_FIELDS.filter(
    (field) => JSON.stringify(changed[field]) !== JSON.stringify(current[field]),
  ).map((field) => ({
    id: 'described_by_document',
    field: field === 'sector' ? 'subject' : field,
    message:
      'the application has a metadata document: its scopes and the rules for its requests can be changed here, and nothing else',
  }));
}

function notRegistered(
  field: string,
  values: readonly string[],
  registered: readonly string[],
  clientId: string,
): Problem[] {
  const next = { text: 'See', command: ['client', 'show', clientId] };
  const unknown = values.filter((value) => !registered.includes(value));
  const messages = unknown.map((value) => `${quoted(value)} is not registered`);
  return ofField(field, 'not_registered', messages).map((problem) => ({ ...problem, next }));
}

function registeredAlready(
  field: string,
  values: readonly string[],
  registered: readonly string[],
): Problem[] {
  const repeated = values.filter((value) => registered.includes(value));
  const messages = repeated.map((value) => `${quoted(value)} is registered already: leave it out`);
  return ofField(field, 'registered_already', messages);
}

function problemIf(isBroken: boolean, problem: Problem): Problem[] {
  return isBroken ? [problem] : [];
}
