import { type CheckedClient, newClientOf, Registration } from '../registration/registration.js';
import { problem } from '#platform/validation/problem.js';
import { InvalidDocumentError, type MetadataDocument, readMetadataDocument } from './metadata-document.js';
import { DEFAULT_SIGNING_ALGORITHM } from '#oauth/openid/signing-keys.js';
import { freshFor, OutsideFetchError, type OutsideHttp } from '#platform/http/outside-http.js';

const MINUTE_MS = 60_000;
const FRESHNESS = { min: 5 * MINUTE_MS, max: 24 * 60 * MINUTE_MS, byDefault: 60 * MINUTE_MS };
/** Short, because a request waits for the document. */
const TIMEOUT_MS = 3_000;
/** The client metadata draft recommends 5 KB, which is too small for ten keys. */
const MAX_BYTES = 16 * 1024;
/** Section 4 of the draft: `application/json`, or "more specific content types as long as the response is JSON". */
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:$|;)/i;

export interface FetchedDocument {
  readonly document: MetadataDocument;
  readonly dueAt: Date;
}

/** @param url without a problem of `documentUrlProblems` @throws an error for which `isDocumentFailure` returns true */
export async function fetchDocument(
  http: OutsideHttp,
  url: string,
  now: number = Date.now(),
): Promise<FetchedDocument> {
  const response = await http.fetchOutside(url, {
    headers: { Accept: 'application/json' },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  const { status, headers, body } = response;
  // Section 5 of the draft: "The authorization server MUST treat all other HTTP status codes as an error response."
  if (status !== 200)
    throw new OutsideFetchError('unreachable', `its host answered with the status ${status}`);
  if (!JSON_TYPE.test(headers['content-type'] ?? ''))
    throw new InvalidDocumentError([problem('document_content_type', [])]);
  const document = readMetadataDocument(body.toString('utf8'), url);
  return { document, dueAt: new Date(now + freshFor(response, FRESHNESS)) };
}

export function isDocumentFailure(error: unknown): error is OutsideFetchError | InvalidDocumentError {
  return error instanceof OutsideFetchError || error instanceof InvalidDocumentError;
}

/** Makes `state` optional, which requires PKCE (RFC 9700 2.1). */
export function clientOfDocument(
  url: string,
  { document: { client, leftOut }, dueAt }: FetchedDocument,
  scopes: { readonly scopes: readonly string[]; readonly optionalScopes?: readonly string[] },
): { readonly registration: Registration; readonly client: CheckedClient } {
  const rules = { requireState: false, idTokenAlg: client.idTokenAlg ?? DEFAULT_SIGNING_ALGORITHM };
  const registration = Object.assign(new Registration(), client, rules, scopes) as Registration;
  const document = { documentDueAt: dueAt, documentProblem: leftOut };
  return { registration, client: { ...newClientOf(registration), clientId: url, ...document } };
}
