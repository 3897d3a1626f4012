import { isDeepStrictEqual } from 'node:util';
import { IsArray, IsBoolean, IsIn, IsOptional, IsString } from 'class-validator';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import { type ClientKeys, type ClientType, isClientId, isDocumentUrl } from '#oauth/oauth-client.js';
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { isLoopback } from '#oauth/redirect-uri.js';
import { scopeTokens } from '#oauth/scope.js';
import { duplicateMember } from '#platform/json.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import { fieldsOf, Rule, validate } from '#platform/validation/validate.js';
import { ClientMetadata } from '../registration/client-metadata.js';
import { storedAlgorithm } from '../registration/openid-registration.js';
import { clientKeys, hasPrivateKey, isAbsent } from '../registration/keys.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    document_not_json: null;
    document_content_type: null;
    document_url_invalid:
      | { readonly reason: 'form' | 'http' | 'userinfo' | 'fragment' | 'path' }
      | { readonly reason: 'rewritten'; readonly href: string };
    document_client_id_mismatch: null;
    document_secret: { readonly member: string };
    document_list_incomplete: { readonly needed: string };
    document_method_secret: { readonly method: string };
    document_method_unsupported: { readonly methods: readonly string[] };
    document_keys_missing: null;
    document_member_repeated: { readonly name: string };
    /** The service cannot do what the member demands for the security of the client. */
    document_member_unsupported: { readonly member: string };
  }
}

/** Rules that a document can make stricter; a document without them leaves the rules of the operator. */
interface DescribedRules {
  readonly requirePar?: boolean;
  readonly dpopBound?: boolean;
  readonly idTokenAlg?: SigningAlgorithm | null;
}

/** Client described by a metadata document (section 4 of draft-ietf-oauth-client-id-metadata-document-03). */
export interface DescribedClient extends ClientKeys, DescribedRules {
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
  /** Values of an accepted document that the registration does not contain; null if it contains all. */
  readonly leftOut: string | null;
}

/** Begins the problem of an accepted document. */
export const LEFT_OUT = 'left out: ';

/** Protects the log, the audit trail and the client's row, because a document can have thousands of problems. */
const MAX_PROBLEMS = 10;

function messageOf(problems: readonly Problem[]): string {
  const more = problems.length - MAX_PROBLEMS;
  const described = describeProblems({ problems: problems.slice(0, MAX_PROBLEMS) }, memberOf);
  return [...described, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** The message is for the operator and the publisher of the document. */
export class InvalidDocumentError extends Error {
  /** @param hasUnsupportedMethod true if the service supports no authentication method of the client */
  constructor(
    readonly problems: readonly Problem[],
    readonly hasUnsupportedMethod = false,
  ) {
    super(messageOf(problems));
    this.name = 'InvalidDocumentError';
  }
}

/**
 * Section 3 of the draft: the URL of a document MUST use https, MUST contain a path, and MUST NOT contain dot segments,
 * a fragment or a user name and password. Also accepts http on a developer's machine; the HTTP client fetches such a
 * URL only if the configuration permits local addresses.
 */
export function documentUrlProblems(field: string, text: string): Problem<'document_url_invalid'>[] {
  const refuse = (reason: 'form' | 'http' | 'userinfo' | 'fragment' | 'path') => [
    problem('document_url_invalid', field, { reason }),
  ];
  if (!isClientId(text) || !isDocumentUrl(text) || !URL.canParse(text)) return refuse('form');
  const { protocol, hostname, username, password, href } = new URL(text);
  if (protocol !== 'https:' && !isLoopback(hostname)) return refuse('http');
  if (username + password !== '') return refuse('userinfo');
  if (text.includes('#')) return refuse('fragment');
  if (!/^https?:\/\/[^/?]+\//.test(text)) return refuse('path');
  // Excludes other spellings of the same URL, such as an upper-case host, a default port or a dot segment.
  return href === text ? [] : [problem('document_url_invalid', field, { reason: 'rewritten', href })];
}

/** Members of a document by the fields that they describe. */
const MEMBERS: Readonly<Record<string, string>> = {
  name: 'client_name',
  redirectUris: 'redirect_uris',
  postLogoutRedirectUris: 'post_logout_redirect_uris',
  backchannelLogoutUri: 'backchannel_logout_uri',
  clientUri: 'client_uri',
  policyUri: 'policy_uri',
  contacts: 'contacts',
  jwks: 'jwks',
  jwksUri: 'jwks_uri',
};

const memberOf = (field: string): string => MEMBERS[field] ?? field;

type Members = Readonly<Record<string, unknown>>;

const METHODS = ['private_key_jwt', 'none'] as const;
const SECRET_METHODS: readonly string[] = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt'];

/** Members that describe no field of a registration, but restrict which clients are accepted. */
class DocumentRules {
  @IsString({ each: true })
  @IsArray()
  @IsOptional()
  @Rule(includes('grant_types', 'authorization_code'))
  grant_types?: string[] | null;

  @IsString({ each: true })
  @IsArray()
  @IsOptional()
  @Rule(includes('response_types', 'code'))
  response_types?: string[] | null;

  @IsString()
  @IsOptional()
  @Rule(methodProblems)
  token_endpoint_auth_method?: string | null;

  @IsString({ each: true })
  @IsArray()
  @IsOptional()
  token_endpoint_auth_methods_supported?: string[] | null;

  @IsString()
  @IsOptional()
  scope?: string | null;

  @IsBoolean()
  @IsOptional()
  require_pushed_authorization_requests?: boolean | null;

  @IsBoolean()
  @IsOptional()
  dpop_bound_access_tokens?: boolean | null;

  @IsIn(SIGNING_ALGORITHMS)
  @IsString()
  @IsOptional()
  id_token_signed_response_alg?: SigningAlgorithm | null;
}

/**
 * Members with values that demand a protection which this service does not have. Ignoring them would weaken the client.
 */
const UNSUPPORTED: Readonly<Record<string, (value: unknown) => boolean>> = {
  require_signed_request_object: (value) => value === true,
  tls_client_certificate_bound_access_tokens: (value) => value === true,
  id_token_encrypted_response_alg: (value) => !isAbsent(value),
  subject_type: (value) => value === 'pairwise',
};

/** Fields without which a client works; of redirect URIs, one must be left. */
const DISPENSABLE: ReadonlySet<string> = new Set([
  'name',
  'redirectUris',
  'postLogoutRedirectUris',
  'backchannelLogoutUri',
  'clientUri',
  'policyUri',
  'contacts',
]);

/** @returns every problem if the client is unusable even without its dispensable values */
function describedClient(given: Members, host: string) {
  const leftOut: Problem[] = [];
  for (let input = given; ;) {
    const { dto, problems } = validate(ClientMetadata, { ...input, name: input['name'] ?? host });
    if (problems.length === 0) return { client: dto, problems, leftOut };
    const usable = withoutUnusable(input, problems);
    const found = [
      ...leftOut,
      ...problems.filter((one) => !leftOut.some((known) => isDeepStrictEqual(one, known))),
    ];
    if (Object.keys(input).every((field) => usable[field] === input[field]))
      return { client: null, problems: found, leftOut };
    leftOut.splice(0, leftOut.length, ...found);
    input = usable;
  }
}

/** Removes the values of dispensable fields that have a problem. */
function withoutUnusable(input: Members, problems: readonly Problem[]): Members {
  const usable = Object.entries(input).map(([field, value]) => {
    const own = problems.filter(({ path }) => path[0] === field);
    if (own.length === 0 || !DISPENSABLE.has(field)) return [field, value];
    if (own.some(({ path }) => path.length === 1))
      return [field, field === 'redirectUris' ? value : undefined];
    const unusable = new Set(own.map(({ path }) => path[1]));
    return [field, Array.isArray(value) ? value.filter((_, index) => !unusable.has(index)) : undefined];
  });
  return Object.fromEntries(usable) as Members;
}

function includes(member: 'grant_types' | 'response_types', needed: string) {
  return ({ [member]: list }: DocumentRules): Problem[] =>
    list === undefined || list?.includes(needed)
      ? []
      : [problem('document_list_incomplete', member, { needed })];
}

function methodProblems(rules: DocumentRules): Problem[] {
  const { token_endpoint_auth_method: method, token_endpoint_auth_methods_supported: supported } = rules;
  const methods = declaredMethods(rules);
  return [
    // Section 4.1 of the draft: "MUST NOT include […] any other method based around a shared symmetric secret".
    ...methods
      .filter((name) => SECRET_METHODS.includes(name))
      .slice(0, 1)
      .map((name) => problem('document_method_secret', 'token_endpoint_auth_method', { method: name })),
    ...(!isAbsent(method) && supported !== undefined && !supported?.includes(method)
      ? [problem('document_list_incomplete', 'token_endpoint_auth_methods_supported', { needed: method })]
      : []),
    ...(methodOf(rules) === null
      ? [problem('document_method_unsupported', 'token_endpoint_auth_method', { methods })]
      : []),
  ];
}

/** If no member declares a method, "the authorization server MUST assume the default […] of none" (section 6). */
function declaredMethods(rules: DocumentRules): readonly string[] {
  const { token_endpoint_auth_method: method, token_endpoint_auth_methods_supported: supported } = rules;
  if (isAbsent(method) && supported === undefined) return ['none'];
  return [...(isAbsent(method) ? [] : [method]), ...(supported ?? [])];
}

/**
 * Section 6 of the draft: chooses `token_endpoint_auth_method` if this service supports it, otherwise a supported
 * method from the list. Returns null if the service supports none.
 */
function methodOf(rules: DocumentRules): (typeof METHODS)[number] | null {
  const declared = declaredMethods(rules);
  const { token_endpoint_auth_method: preferred } = rules;
  return (
    METHODS.find((name) => name === preferred) ?? METHODS.find((name) => declared.includes(name)) ?? null
  );
}

/** @throws InvalidDocumentError that lists the problems */
export function readMetadataDocument(text: string, url: string): MetadataDocument {
  const members = parseObject(text);
  const restrictions = fieldsOf(DocumentRules).map((member) => [member, members[member]]);
  const { dto: rules, problems: ruleProblems } = validate(DocumentRules, Object.fromEntries(restrictions));
  const method = rules && methodOf(rules);
  const described = Object.entries(MEMBERS).map(([field, member]) => [field, members[member] ?? undefined]);
  const { jwks, jwksUri, ...input } = Object.fromEntries(described) as Members;
  const isPublic = method === 'none';
  const given = { ...input, ...(isPublic ? { type: 'public' } : { jwks, jwksUri }) };
  const { client, problems, leftOut } = describedClient(given, new URL(url).host.slice(0, 100));
  const found = [
    ...(members['client_id'] === url ? [] : [problem('document_client_id_mismatch', 'client_id')]),
    ...['client_secret', 'client_secret_expires_at']
      .filter((member) => member in members)
      .map((member) => problem('document_secret', member, { member })),
    ...ruleProblems,
    ...problems,
    ...Object.entries(UNSUPPORTED)
      .filter(([member, isDemanded]) => isDemanded(members[member]))
      .map(([member]) => problem('document_member_unsupported', member, { member })),
    // Section 4.1 of the draft. The other keys of a public client are ignored.
    ...(isPublic && hasPrivateKey(jwks) ? [problem('keys_invalid', 'jwks', { id: 'private' })] : []),
    // Only operators may give a set as text.
    ...(typeof jwks === 'string' ? [problem('type', 'jwks', { expected: 'object' })] : []),
    ...(method === 'private_key_jwt' && isAbsent(jwks) && isAbsent(jwksUri)
      ? [problem('document_keys_missing', 'jwks')]
      : []),
  ];
  if (!client || !rules || found.length > 0)
    throw new InvalidDocumentError(found, rules !== null && method === null);
  const { scope, id_token_signed_response_alg: alg } = rules;
  const stricter: DescribedRules = {
    ...(rules.require_pushed_authorization_requests && { requirePar: true }),
    ...(rules.dpop_bound_access_tokens && { dpopBound: true }),
    ...(!isAbsent(alg) && { idTokenAlg: storedAlgorithm(alg) }),
  };
  return {
    client: Object.assign(client, clientKeys(client), stricter),
    scopes: isAbsent(scope) ? null : scopeTokens(scope),
    leftOut: leftOut.length === 0 ? null : LEFT_OUT + messageOf(leftOut),
  };
}

function parseObject(text: string): Members {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Falls through to the error below.
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new InvalidDocumentError([problem('document_not_json', [])]);
  const repeated = duplicateMember(text);
  // Another parser could read another value (RFC 8259 4).
  if (repeated !== null)
    throw new InvalidDocumentError([problem('document_member_repeated', [], { name: repeated.name })]);
  return parsed as Members;
}
