import { readRegisteredKeys } from '../client-assertion/client-keys.js';
import { type ClientKeys, type ClientType, isClientId, isDocumentUrl } from '../oauth-client.js';
import { InvalidKeyError, isPrivateJwk } from '../jwk.js';
import { isLoopback } from '../redirect-uri.js';
import { scopeTokens } from '../scope.js';
import { quoted } from '../text.js';
import { jwksUriProblem, linkProblems } from './client-links.js';
import {
  backchannelProblems,
  MAX_REDIRECT_URIS,
  named,
  nameProblems,
  postLogoutProblems,
  redirectUriProblems,
} from './client-rules.js';

/** Client described by a metadata document (section 4 of draft-ietf-oauth-client-id-metadata-document-03). */
export interface DescribedClient extends ClientKeys {
  readonly name: string;
  readonly type: ClientType;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly backchannelLogoutUri: string | null;
  readonly clientUri: string | null;
  readonly policyUri: string | null;
  readonly contacts: readonly string[];
}

export interface MetadataDocument {
  readonly client: DescribedClient;
  /** Scopes to register the client for; null if the document has no `scope`. */
  readonly scopes: readonly string[] | null;
  readonly dpopBound: boolean;
}

/** Protects the log, the audit trail and the client's row, because a document can have thousands of problems. */
const MAX_PROBLEMS = 10;

/** The message is for the operator and the publisher of the document. */
export class InvalidDocumentError extends Error {
  /** @param hasUnsupportedMethod true if the service supports no authentication method of the client */
  constructor(
    problems: readonly string[],
    readonly hasUnsupportedMethod = false,
  ) {
    const more = problems.length - MAX_PROBLEMS;
    super([...problems.slice(0, MAX_PROBLEMS), ...(more > 0 ? [`and ${more} more`] : [])].join('; '));
    this.name = 'InvalidDocumentError';
  }
}

/**
 * Section 3 of the draft: the URL of a document MUST use https, MUST contain a path, and MUST NOT contain dot segments,
 * a fragment or a user name and password. Also accepts http on a developer's machine; the HTTP client fetches such a
 * URL only if the configuration permits local addresses.
 * @returns null, or the problem
 */
export function documentUrlProblem(text: string): string | null {
  if (!isClientId(text) || !isDocumentUrl(text) || !URL.canParse(text))
    return 'must be an https URL of at most 255 visible ASCII characters';
  const { protocol, hostname, username, password, href } = new URL(text);
  if (protocol !== 'https:' && !isLoopback(hostname)) return 'must be https';
  if (username + password !== '') return 'must have no user name and no password';
  if (text.includes('#')) return 'must have no fragment';
  if (!/^https?:\/\/[^/?]+\//.test(text)) return 'must have a path, like https://app.example.com/client.json';
  // Excludes other spellings of the same URL, such as an upper-case host, a default port or a dot segment.
  return href === text ? null : `must be in the form that browsers send: ${href}`;
}

type Members = Readonly<Record<string, unknown>>;

/** @throws InvalidDocumentError that lists the problems */
export function readMetadataDocument(text: string, url: string): MetadataDocument {
  const members = parseObject(text);
  const problems: string[] = [];
  const { client_id: clientId } = members;
  if (clientId !== url)
    problems.push(
      `client_id must be the URL of the document character by character, and is ${typeof clientId === 'string' ? quoted(clientId) : 'not a text'}`,
    );
  for (const secret of ['client_secret', 'client_secret_expires_at'])
    if (secret in members) problems.push(`${secret} must be absent: a published secret is no secret`);
  const textOf = (name: string): string | null => {
    const value = members[name] ?? null;
    if (value === null || typeof value === 'string') return value;
    problems.push(`${name} must be a text`);
    return null;
  };
  const listOf = (name: string): readonly string[] => {
    const value = members[name] ?? [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    problems.push(`${name} must be a list of texts`);
    return [];
  };
  const includes = (name: string, needed: string): void => {
    if (members[name] !== undefined && !listOf(name).includes(needed))
      problems.push(`${name} must include ${needed}`);
  };
  includes('grant_types', 'authorization_code');
  includes('response_types', 'code');
  const method = methodOf(members, textOf('token_endpoint_auth_method'), listOf(METHODS_SUPPORTED), problems);
  const { keys, type } = authenticationOf(method, members['jwks'] ?? null, textOf('jwks_uri'), problems);
  const links = {
    clientUri: textOf('client_uri'),
    policyUri: textOf('policy_uri'),
    contacts: listOf('contacts'),
  };
  const client: DescribedClient = {
    name: textOf('client_name') ?? new URL(url).host.slice(0, 100),
    type,
    redirectUris: listOf('redirect_uris'),
    postLogoutRedirectUris: listOf('post_logout_redirect_uris'),
    backchannelLogoutUri: textOf('backchannel_logout_uri'),
    ...links,
    ...keys,
  };
  const { redirectUris } = client;
  if (redirectUris.length === 0) problems.push('redirect_uris is missing or empty');
  if (redirectUris.length > MAX_REDIRECT_URIS)
    problems.push(`redirect_uris has more than ${MAX_REDIRECT_URIS}`);
  const memberOf = { clientUri: 'client_uri', policyUri: 'policy_uri', contacts: 'contacts' } as const;
  problems.push(
    ...nameProblems('client_name', client.name, 'users see it'),
    ...named('redirect_uris', redirectUriProblems(redirectUris, { type })),
    ...named('post_logout_redirect_uris', postLogoutProblems(client.postLogoutRedirectUris, { type })),
    ...named('backchannel_logout_uri', backchannelProblems(client.backchannelLogoutUri)),
    ...linkProblems(links, (field) => memberOf[field]),
  );
  const scope = textOf('scope');
  if (problems.length > 0) throw new InvalidDocumentError(problems, method === null);
  return {
    client,
    scopes: scope === null ? null : scopeTokens(scope),
    dpopBound: members['dpop_bound_access_tokens'] === true,
  };
}

function parseObject(text: string): Members {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Members;
  } catch {
    // Falls through to the error below.
  }
  throw new InvalidDocumentError(['it is not a JSON object']);
}

type AuthMethod = 'private_key_jwt' | 'none';

const METHODS_SUPPORTED = 'token_endpoint_auth_methods_supported';
/** In order of preference. */
const AUTH_METHODS = ['private_key_jwt', 'none'] as const;
const SECRET_METHODS: readonly string[] = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt'];

/**
 * Section 6 of the draft: chooses `token_endpoint_auth_method` if this service supports it, otherwise a supported
 * method from the list.
 * If neither is present, "the authorization server MUST assume the default token endpoint authentication method of none."
 */
function methodOf(
  members: Members,
  method: string | null,
  supported: readonly string[],
  problems: string[],
): AuthMethod | null {
  const hasList = members[METHODS_SUPPORTED] !== undefined;
  if (method === null && !hasList) return 'none';
  const declared = [...(method === null ? [] : [method]), ...supported];
  // Section 4.1 of the draft: "MUST NOT include […] any other method based around a shared symmetric secret".
  const secret = declared.find((name) => SECRET_METHODS.includes(name));
  if (secret !== undefined) problems.push(`${secret} is refused: a published secret is no secret`);
  if (method !== null && hasList && !supported.includes(method))
    problems.push(`${METHODS_SUPPORTED} must include ${quoted(method)}, the token_endpoint_auth_method`);
  const own =
    AUTH_METHODS.find((name) => name === method) ?? AUTH_METHODS.find((name) => declared.includes(name));
  if (own === undefined)
    problems.push(
      `token_endpoint_auth_method must be none or private_key_jwt, and is ${declared.map(quoted).join(', ') || 'missing'}`,
    );
  return own ?? null;
}

/** Ignores the keys of a public client, but rejects a document with a private key (section 4.1 of the draft). */
function authenticationOf(
  method: AuthMethod | null,
  jwks: unknown,
  jwksUri: string | null,
  problems: string[],
): { readonly type: ClientType; readonly keys: ClientKeys } {
  const none = { jwks: null, jwksUri: null };
  if (method === 'none') {
    if (hasPrivateKey(jwks))
      problems.push('jwks contains a private key: publish only public keys, and replace this one');
    return { type: 'public', keys: none };
  }
  const refused = { type: 'confidential', keys: none } as const;
  if (method === null) return refused;
  const refuse = (problem: string) => {
    problems.push(problem);
    return refused;
  };
  if ((jwks === null) === (jwksUri === null)) return refuse('private_key_jwt needs either jwks or jwks_uri');
  if (jwksUri !== null) {
    const problem = jwksUriProblem(jwksUri);
    return problem === null
      ? { type: 'confidential', keys: { jwks: null, jwksUri } }
      : refuse(`jwks_uri ${quoted(jwksUri)} ${problem}`);
  }
  try {
    return {
      type: 'confidential',
      keys: { jwks: readRegisteredKeys(JSON.stringify(jwks)), jwksUri: null },
    };
  } catch (error) {
    if (error instanceof InvalidKeyError) return refuse(`jwks ${error.message}`);
    // JSON.parse accepts deeper nesting than JSON.stringify.
    if (error instanceof RangeError) return refuse('jwks is nested too deeply');
    throw error;
  }
}

function hasPrivateKey(jwks: unknown): boolean {
  const keys = typeof jwks === 'object' && jwks !== null && 'keys' in jwks ? jwks.keys : null;
  return Array.isArray(keys) && keys.some(isPrivateJwk);
}
