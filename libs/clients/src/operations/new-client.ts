import { scopesOf } from '../documents/client-documents.service.js';
import { clientOfDocument, fetchDocument, isDocumentFailure } from '../documents/fetch-document.js';
import { FAPI_FLAGS } from '../client-flags.js';
import type { OutsideHttp } from '#platform/http/outside-http.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { refused, refuseInvalid } from '#platform/validation/administration.error.js';
import { checked, type Input, validated } from '#operations/operation-input.js';
import { problem } from '#platform/validation/problem.js';
import { readLogo } from '../registration/logo.js';
import { defaultAlgorithm } from '../registration/openid-registration.js';
import {
  type CheckedClient,
  newClientOf,
  Registration,
  scopeProblems,
} from '../registration/registration.js';
import { DocumentClientDto, type NewClientInput } from './client.dto.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    console_url_missing: null;
    metadata_document_invalid: { readonly url: string; readonly reason: string };
  }
}

/** @param consoleUrl empty without a console @throws AdministrationError that lists every problem */
export async function checkNewClient(
  input: Input<Registration>,
  catalogue: ScopeCatalogue,
  consoleUrl: string,
): Promise<CheckedClient> {
  const { dto, problems } = checked(Registration, completed(input, catalogue));
  const { logo, problems: logoProblems } = await readLogo(dto.logo);
  const isApiClient = dto.grantType === 'client_credentials';
  refuseInvalid([
    ...problems,
    ...scopeProblems('scopes', input.scopes ?? [], catalogue),
    ...logoProblems,
    ...(isApiClient && consoleUrl === '' ? [problem('console_url_missing', 'grantType')] : []),
  ]);
  return { ...newClientOf(dto), ...(logo && { logo }) };
}

/** Adds the values of absent fields that depend on other fields. */
function completed(input: Input<Registration>, catalogue: ScopeCatalogue): Input<Registration> {
  const { profile, grantType, refreshTokenRotation = false } = input;
  const { scopes = grantType === 'client_credentials' ? [] : catalogue.defaults } = input;
  const { idTokenAlg = defaultAlgorithm(profile) } = input;
  const fixed = profile === 'fapi2' && { ...FAPI_FLAGS, dpopBound: true, refreshTokenRotation };
  return { ...input, scopes, idTokenAlg, ...fixed };
}

export async function checkDocumentClient(
  input: NewClientInput,
  catalogue: ScopeCatalogue,
  http: OutsideHttp,
): Promise<CheckedClient> {
  const { metadataUrl: url, optionalScopes, ...given } = validated(DocumentClientDto, input);
  refuseInvalid(scopeProblems('scopes', given.scopes ?? [], catalogue));
  const fetched = await fetchDocument(http, url).catch((error: unknown) => {
    if (!isDocumentFailure(error)) throw error;
    throw refused(
      'invalid',
      problem('metadata_document_invalid', 'metadataUrl', { url, reason: error.message }),
    );
  });
  const scopes = [...(given.scopes ?? scopesOf(fetched.document, catalogue))];
  const { registration, client } = clientOfDocument(url, fetched, { scopes, optionalScopes });
  refuseInvalid(checked(Registration, registration).problems);
  return client;
}
