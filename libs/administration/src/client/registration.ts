import type { ChangedRegistration, ClientRegistration } from '#database/client/client-registration.store.js';
import { scopesOf } from '#clients/client-documents.service.js';
import { clientOfDocument, fetchDocument, isDocumentFailure } from '#clients/fetch-document.js';
import type { ClientLogo } from '#database/client/client.js';
import type { NewClient } from '#database/client/client.store.js';
import { type ClientKeys, type ClientType, hasKeys } from '#oauth/client.js';
import type { OutsideHttp } from '#platform/http/outside-http.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { AdministrationError, type Problem, refuseInvalid } from '../administration.error.js';
import { checked } from '../input.js';
import { quoted } from '../text.js';
import {
  MAX_REDIRECT_URIS,
  named,
  optionalScopeProblems,
  postLogoutProblems,
  redirectUriProblems,
  rotationProblems,
  scopeProblems,
} from '#oauth/registration/client-rules.js';
import { ClientChangesDto, DocumentClientDto, NewClientDto } from './client.dto.js';
import { grantTypeProblems } from './grant-type.js';
import { readKeys, keysToStore } from './keys.js';
import { checkLogo } from './logo.js';
import {
  defaultAlgorithm,
  profileAlgorithmProblems,
  sectorOf,
  sectorProblems,
  storedAlgorithm,
  subjectOf,
} from './openid-registration.js';

/** @param consoleUrl empty without a console @throws AdministrationError that lists every problem */
export async function checkNewClient(
  input: object,
  catalogue: ScopeCatalogue,
  consoleUrl: string,
): Promise<{ readonly dto: NewClientDto; readonly client: Omit<NewClient, 'secretHash'> }> {
  const { dto, problems } = checked(NewClientDto, input);
  const isOwn = dto.grantType === 'client_credentials';
  const scopes = [...new Set(dto.scopes ?? (isOwn ? [] : catalogue.defaults))];
  const logo = await readLogo(dto.logo);
  const keys = readKeys(dto);
  const idTokenAlg = dto.idTokenAlg ?? defaultAlgorithm(dto.profile);
  const isFapi = dto.profile === 'fapi2';
  const rules = {
    grantType: dto.grantType,
    deviceGrant: dto.deviceGrant,
    dpopBound: dto.dpopBound || isFapi,
    keepsRefreshToken: dto.refreshTokenRotation === false || isFapi,
    profile: isFapi ? ('fapi2' as const) : null,
  };
  const { redirectUris, optionalScopes, firstParty, postLogoutRedirectUris, backchannelLogoutUri } = dto;
  const logoutUris = { postLogoutRedirectUris, backchannelLogoutUri };
  const requirePar = dto.requirePar || isFapi;
  const sector = dto.subject === 'pairwise' ? sectorOf(redirectUris) : null;
  const described = { redirectUris, scopes, optionalScopes, firstParty, requirePar, sector };
  refuseInvalid([
    ...problems,
    ...ofField('optionalScopes', 'optional_scope_invalid', optionalScopeProblems(optionalScopes, scopes)),
    ...ofField('scopes', 'scope_unknown', scopeProblems(dto.scopes ?? [], catalogue)),
    ...logo.problems,
    ...keys.problems,
    ...ofGrantType({ ...described, ...rules, ...logoutUris, ...(keys.keys ?? NO_KEYS) }),
    ...(isOwn && consoleUrl === '' ? [NO_CONSOLE] : []),
  ]);
  return {
    dto: Object.assign(dto, { scopes, idTokenAlg }),
    client: {
      ...described,
      name: dto.name,
      type: dto.public ? 'public' : 'confidential',
      requireState: dto.requireState && !isFapi,
      rules,
      logoutUris,
      idTokenAlg: storedAlgorithm(idTokenAlg),
      links: { clientUri: dto.clientUri, policyUri: dto.policyUri, contacts: dto.contacts },
      ...(logo.logo && { logo: logo.logo }),
      ...keysToStore(keys.keys),
    },
  };
}

export async function checkDocumentClient(
  input: object,
  catalogue: ScopeCatalogue,
  http: OutsideHttp,
): Promise<Awaited<ReturnType<typeof checkNewClient>>> {
  const { dto: given, problems } = checked(DocumentClientDto, input);
  refuseInvalid([
    ...problems,
    ...ofField('scopes', 'scope_unknown', scopeProblems(given.scopes ?? [], catalogue)),
  ]);
  const { metadataUrl: url, optionalScopes } = given;
  const fetched = await fetchDocument(http, url).catch((error: unknown) => {
    if (!isDocumentFailure(error)) throw error;
    throw new AdministrationError('invalid', [
      {
        id: 'metadata_document_invalid',
        field: 'metadataUrl',
        message: `the document at ${url} cannot be used: ${error.message}`,
      },
    ]);
  });
  const scopes = [...new Set(given.scopes ?? scopesOf(fetched.document, catalogue))];
  refuseInvalid(
    ofField('optionalScopes', 'optional_scope_invalid', optionalScopeProblems(optionalScopes, scopes)),
  );
  const dto = Object.assign(new NewClientDto(), {
    dpopBound: fetched.document.dpopBound,
    idTokenAlg: defaultAlgorithm(null),
  });
  return { dto, client: { ...clientOfDocument(url, fetched, scopes), optionalScopes } };
}

const NO_KEYS: ClientKeys = { jwks: null, jwksUri: null };

const NO_CONSOLE: Problem = {
  id: 'console_url_missing',
  field: 'grantType',
  message:
    '‹grantType› client_credentials is for the HTTP API of the console: set CONSOLE_URL to its address',
};

function ofGrantType(client: Parameters<typeof grantTypeProblems>[0]): Problem[] {
  return grantTypeProblems(client).map(({ field, problem }) => ({
    id: 'grant_type_invalid',
    field,
    message: `‹${field}› ${problem}`,
  }));
}

export interface CheckedChanges {
  readonly changes: ClientChangesDto;
  /** Null removes it; undefined keeps it. */
  readonly logo?: ClientLogo | null;
  readonly keys?: ClientKeys;
}

/** Checks what does not depend on the registration. @throws AdministrationError that lists every problem */
export async function checkClientChanges(
  input: object,
  catalogueOf: () => ScopeCatalogue,
): Promise<CheckedChanges> {
  const { dto: changes, problems } = checked(ClientChangesDto, input);
  const { scopes = [], addScopes } = changes;
  const catalogue = scopes.length + addScopes.length > 0 ? catalogueOf() : null;
  const unknown = (field: string, names: readonly string[]) =>
    ofField(field, 'scope_unknown', catalogue ? scopeProblems(names, catalogue) : []);
  const { problems: logoProblems, ...logo } = await readLogo(changes.logo);
  const { problems: keyProblems, ...keys } = readKeys(changes);
  refuseInvalid([
    ...problems,
    ...unknown('scopes', scopes),
    ...unknown('addScopes', addScopes),
    ...logoProblems,
    ...keyProblems,
  ]);
  return { changes, ...logo, ...keys };
}

async function readLogo(
  image: Buffer | null | undefined,
): Promise<{ readonly logo?: ClientLogo | null; readonly problems: readonly Problem[] }> {
  if (image === undefined || image === null) return { ...(image === null && { logo: null }), problems: [] };
  const logo = await checkLogo(image);
  return typeof logo === 'string'
    ? { problems: [{ id: 'logo_invalid', field: 'logo', message: `‹logo› ${logo}` }] }
    : { logo, problems: [] };
}

export interface RegisteredState {
  readonly clientId: string;
  readonly type: ClientType;
  readonly hasSecrets: boolean;
  readonly hasDocument: boolean;
}

/** A removed scope is also removed from the optional scopes. @throws AdministrationError that lists every problem */
export function changedRegistration(
  { clientId, type, hasSecrets, hasDocument }: RegisteredState,
  current: ClientRegistration,
  { changes, logo, keys = current }: CheckedChanges,
): ChangedRegistration {
  const { addScopes, removeScopes, addRedirectUris: added, removeRedirectUris: removed } = changes;
  const scopes = (changes.scopes && [...new Set(changes.scopes)]) ?? [
    ...current.scopes.filter((scope) => !removeScopes.includes(scope)),
    ...addScopes.filter((scope) => !current.scopes.includes(scope)),
  ];
  const redirectUris = redirectUrisAfter(current, changes);
  const kept = current.redirectUris.filter((uri) => !removed.includes(uri));
  const newUris = changes.redirectUris?.filter((uri) => !current.redirectUris.includes(uri)) ?? added;
  const uriField = changes.redirectUris ? 'redirectUris' : 'addRedirectUris';
  const { subject = subjectOf(current), optionalScopes = current.optionalScopes } = changes;
  const sector = changes.subject === undefined ? current.sector : null;
  const show = { text: 'See', command: ['client', 'show', clientId] };
  const unregistered = (field: string, values: readonly string[], registered: readonly string[]) =>
    ofField(
      field,
      'not_registered',
      values
        .filter((value) => !registered.includes(value))
        .map((value) => `${quoted(value)} is not registered`),
    ).map((problem): Problem => ({ ...problem, next: show }));
  const registeredTwice = (field: string, values: readonly string[], registered: readonly string[]) =>
    ofField(
      field,
      'registered_already',
      values
        .filter((value) => registered.includes(value))
        .map((value) => `${quoted(value)} is registered already: leave it out`),
    );
  const problems = [
    ...unregistered('removeRedirectUris', removed, current.redirectUris),
    ...registeredTwice('addRedirectUris', added, kept),
    ...ofField(uriField, 'redirect_uri_invalid', redirectUriProblems(newUris, type)),
    ...(subject === 'pairwise'
      ? sectorProblems(changes.subject ? 'redirect URI' : `‹${uriField}›`, redirectUris, sector)
      : []
    ).map((message): Problem => ({ id: 'redirect_uri_invalid', field: uriField, message })),
    ...unregistered('removeScopes', removeScopes, current.scopes),
    ...registeredTwice('addScopes', addScopes, current.scopes),
    ...ofField(
      'postLogoutRedirectUris',
      'post_logout_redirect_uri_invalid',
      postLogoutProblems(changes.postLogoutRedirectUris ?? [], type),
    ),
    ...ofField(
      'optionalScopes',
      'optional_scope_invalid',
      optionalScopeProblems(changes.optionalScopes ?? [], scopes),
    ),
  ];
  const add = (id: string, field: string, ...messages: readonly string[]) =>
    problems.push(...messages.map((message): Problem => ({ id, field, message })));
  if (hasKeys(keys) && type === 'public')
    add('public_client_with_keys', 'jwks', 'a public client has no keys: it uses PKCE (RFC 6749 2.1)');
  if (hasKeys(keys) && hasSecrets)
    problems.push({
      id: 'client_has_secrets',
      field: 'jwks',
      message:
        'the application has a secret, and may not have keys as well (RFC 6749 2.3): revoke it first, with ‹force›',
      next: { text: 'See', command: ['client', 'secret', 'list', clientId] },
    });
  const { dpopBound = current.dpopBound, requirePar = current.requirePar } = changes;
  const keepsRefreshToken =
    changes.refreshTokenRotation === undefined ? current.keepsRefreshToken : !changes.refreshTokenRotation;
  add('rotation_invalid', 'refreshTokenRotation', ...rotationProblems(!keepsRefreshToken, dpopBound));
  if (current.profile === 'fapi2' && !(keepsRefreshToken && hasKeys(keys) && requirePar))
    add(
      'profile_violated',
      'profile',
      'the application is registered for fapi2, which requires keys, pushed requests, and refresh tokens that do not rotate (FAPI 2.0 5.3.2.1)',
    );
  add(
    'profile_violated',
    'idTokenAlg',
    ...(changes.idTokenAlg === undefined
      ? []
      : profileAlgorithmProblems('‹idTokenAlg›', current.profile, changes.idTokenAlg)),
  );
  if (scopes.length === 0)
    add('scope_missing', 'removeScopes', 'no scope would be left: add one in the same command');
  const { deviceGrant = current.deviceGrant } = changes;
  if (redirectUris.length === 0 && current.grantType !== 'client_credentials' && !deviceGrant)
    add(
      'redirect_uri_missing',
      uriField,
      'no redirect URI would be left: add the new one in the same command',
    );
  if (redirectUris.length > MAX_REDIRECT_URIS)
    add(
      'redirect_uri_limit',
      uriField,
      `more than ${MAX_REDIRECT_URIS} redirect URIs: remove some in the same command`,
    );
  const changed: ChangedRegistration = {
    name: changes.name ?? current.name,
    redirectUris,
    scopes,
    optionalScopes: optionalScopes.filter((optional) => scopes.includes(optional)),
    requirePar,
    requireState: changes.requireState ?? current.requireState,
    firstParty: changes.firstParty ?? current.firstParty,
    postLogoutRedirectUris: changes.postLogoutRedirectUris ?? current.postLogoutRedirectUris,
    backchannelLogoutUri: orCurrent(changes.backchannelLogoutUri, current.backchannelLogoutUri),
    idTokenAlg: changes.idTokenAlg === undefined ? current.idTokenAlg : storedAlgorithm(changes.idTokenAlg),
    sector: newSector(current, changes),
    clientUri: orCurrent(changes.clientUri, current.clientUri),
    policyUri: orCurrent(changes.policyUri, current.policyUri),
    contacts: changes.contacts ?? current.contacts,
    jwks: keys.jwks,
    jwksUri: keys.jwksUri,
    dpopBound,
    keepsRefreshToken,
    profile: current.profile,
    grantType: current.grantType,
    deviceGrant,
    ...(logo !== undefined && { logo }),
  };
  if (hasDocument)
    for (const field of OF_DOCUMENT)
      if (JSON.stringify(changed[field]) !== JSON.stringify(current[field]))
        add(
          'described_by_document',
          field === 'sector' ? 'subject' : field,
          'the application has a metadata document: its scopes and the rules for its requests can be changed here, and nothing else',
        );
  refuseInvalid([...problems, ...ofGrantType(changed)]);
  return changed;
}

/** Fields that a document describes, or that would need one that never changes. */
const OF_DOCUMENT = [
  'name',
  'redirectUris',
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

/** Without a new subject the sector stays: every redirect URI has its host, in any order. */
export function newSector(
  current: Pick<ClientRegistration, 'sector' | 'redirectUris'>,
  changes: ClientChangesDto,
): string | null {
  if (changes.subject === undefined) return current.sector;
  return changes.subject === 'public' ? null : sectorOf(redirectUrisAfter(current, changes));
}

function redirectUrisAfter(
  current: Pick<ClientRegistration, 'redirectUris'>,
  { redirectUris, addRedirectUris, removeRedirectUris }: ClientChangesDto,
): readonly string[] {
  const kept = current.redirectUris.filter((uri) => !removeRedirectUris.includes(uri));
  return redirectUris ? [...new Set(redirectUris)] : [...kept, ...addRedirectUris];
}

const orCurrent = (given: string | null | undefined, current: string | null): string | null =>
  given === undefined ? current : given;

/** @param problems without the name of the field */
function ofField(field: string, id: string, problems: readonly string[]): Problem[] {
  return named(`‹${field}›`, problems).map((message) => ({ id, field, message }));
}
