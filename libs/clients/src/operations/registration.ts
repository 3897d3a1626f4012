import { scopesOf } from '../documents/client-documents.service.js';
import { clientOfDocument, fetchDocument, isDocumentFailure } from '../documents/fetch-document.js';
import { flagsOf } from '../client-flags.js';
import type { ClientLogo } from '../client.js';
import type { NewClient } from '../client.store.js';
import type { ClientKeys } from '#oauth/oauth-client.js';
import type { OutsideHttp } from '#platform/http/outside-http.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { AdministrationError, type Problem, refuseInvalid } from '#operations/administration.error.js';
import { checked, type Input } from '#operations/validate.js';
import { named, optionalScopeProblems, scopeProblems } from '#oauth/registration/client-rules.js';
import { DocumentClientDto, NewClientDto } from './client.dto.js';
import { grantTypeProblems } from './grant-type.js';
import { readKeys, keysToStore } from './keys.js';
import { checkLogo } from './logo.js';
import { defaultAlgorithm, sectorOf, storedAlgorithm } from './openid-registration.js';

/** @param consoleUrl empty without a console @throws AdministrationError that lists every problem */
export async function checkNewClient(
  input: Input<NewClientDto>,
  catalogue: ScopeCatalogue,
  consoleUrl: string,
): Promise<{ readonly dto: NewClientDto; readonly client: Omit<NewClient, 'secretHash'> }> {
  const { dto, problems } = checked(NewClientDto, input);
  const isApiClient = dto.grantType === 'client_credentials';
  const scopes = [...new Set(dto.scopes ?? (isApiClient ? [] : catalogue.defaults))];
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
  const { redirectUris, privateSchemes, optionalScopes } = dto;
  const { postLogoutRedirectUris, backchannelLogoutUri } = dto;
  const logoutUris = { postLogoutRedirectUris, backchannelLogoutUri };
  const flags = flagsOf(dto, isFapi);
  const sector = dto.subject === 'pairwise' ? sectorOf(redirectUris) : null;
  const described = { redirectUris, privateSchemes, scopes, optionalScopes, ...flags, sector };
  refuseInvalid([
    ...problems,
    ...ofField('optionalScopes', 'optional_scope_invalid', optionalScopeProblems(optionalScopes, scopes)),
    ...ofField('scopes', 'scope_unknown', scopeProblems(dto.scopes ?? [], catalogue)),
    ...logo.problems,
    ...keys.problems,
    ...ofGrantType({ ...described, ...rules, ...logoutUris, ...(keys.keys ?? NO_KEYS) }),
    ...(isApiClient && consoleUrl === '' ? [NO_CONSOLE] : []),
  ]);
  return {
    dto: Object.assign(dto, { scopes, idTokenAlg }),
    client: {
      ...described,
      name: dto.name,
      type: dto.public ? 'public' : 'confidential',
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
  input: Input<DocumentClientDto>,
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

export function ofGrantType(client: Parameters<typeof grantTypeProblems>[0]): Problem[] {
  return grantTypeProblems(client).map(({ field, problem }) => ({
    id: 'grant_type_invalid',
    field,
    message: `‹${field}› ${problem}`,
  }));
}

export async function readLogo(
  image: Buffer | null | undefined,
): Promise<{ readonly logo?: ClientLogo | null; readonly problems: readonly Problem[] }> {
  if (image === undefined || image === null) return { ...(image === null && { logo: null }), problems: [] };
  const logo = await checkLogo(image);
  return typeof logo === 'string'
    ? { problems: [{ id: 'logo_invalid', field: 'logo', message: `‹logo› ${logo}` }] }
    : { logo, problems: [] };
}

/** @param problems without the name of the field */
export function ofField(field: string, id: string, problems: readonly string[]): Problem[] {
  return named(`‹${field}›`, problems).map((message) => ({ id, field, message }));
}
