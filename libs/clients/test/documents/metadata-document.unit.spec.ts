import { InvalidDocumentError, readMetadataDocument } from '#clients/documents/metadata-document.js';
import { ClientMetadata } from '#clients/registration/client-metadata.js';
import { validate } from '#platform/validation/validate.js';

const URL = 'https://app.example.com/client.json';
const SIGNS = { token_endpoint_auth_method: 'private_key_jwt' };
const JWKS_URI = { jwks_uri: 'https://app.example.com/jwks.json' };

function documentOf(members: object): string {
  return JSON.stringify({ client_id: URL, redirect_uris: ['https://app.example.com/callback'], ...members });
}

function typeOf(members: object): string {
  return readMetadataDocument(documentOf(members), URL).client.type;
}

function errorOf(members: object): unknown {
  try {
    return typeOf(members);
  } catch (error) {
    return error;
  }
}

// @deviation D32
it('a document cannot register a scheme that the operator must admit', () => {
  const members = { redirect_uris: ['cursor://mcp/callback'], private_schemes: ['cursor'] };
  expect(errorOf(members)).toBeInstanceOf(InvalidDocumentError);
});

// @client metadata document 6
describe('the authentication method of a document', () => {
  it.each<[string, 'public' | 'confidential', object]>([
    ['is none by default, even with keys', 'public', JWKS_URI],
    ['is its token_endpoint_auth_method', 'confidential', { token_endpoint_auth_method: 'private_key_jwt' }],
    [
      'is its token_endpoint_auth_method, even if other methods are supported',
      'public',
      {
        token_endpoint_auth_method: 'none',
        token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'],
      },
    ],
    [
      'does not default to none if only the list is present',
      'confidential',
      { token_endpoint_auth_methods_supported: ['tls_client_auth', 'private_key_jwt'] },
    ],
    [
      'is private_key_jwt if the list has both',
      'confidential',
      { token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'] },
    ],
    [
      'comes from the list if the preferred method is not supported',
      'public',
      {
        token_endpoint_auth_method: 'tls_client_auth',
        token_endpoint_auth_methods_supported: ['tls_client_auth', 'none'],
      },
    ],
  ])('%s', (_what, type, members) => {
    expect(typeOf({ ...JWKS_URI, ...members })).toBe(type);
  });

  it.each([
    ['is missing from the list', { token_endpoint_auth_method: 'none' }, ['private_key_jwt'], false],
    ['comes from an empty list', {}, [], true],
    ['is unknown', {}, ['spiffe_jwt'], true],
  ])('is refused if it %s', (_what, members, supported, hasUnsupportedMethod) => {
    const error = errorOf({ ...JWKS_URI, ...members, token_endpoint_auth_methods_supported: supported });
    expect(error).toBeInstanceOf(InvalidDocumentError);
    expect(error).toMatchObject({ hasUnsupportedMethod });
  });

  // @client metadata document 4.1
  it.each(['client_secret_basic', 'client_secret_post', 'client_secret_jwt'])('cannot be %s', (secret) => {
    expect(errorOf({ token_endpoint_auth_methods_supported: ['none', secret] })).toMatchObject({
      problems: [{ id: 'document_method_secret', values: { method: secret } }],
    });
  });
});

describe('a document', () => {
  it.each<[string, object, string, string]>([
    ['of another client', { client_id: `${URL}?` }, 'document_client_id_mismatch', 'client_id'],
    ['with a secret', { client_secret: 'x' }, 'document_secret', 'client_secret'],
    ['of another grant', { grant_types: ['implicit'] }, 'document_list_incomplete', 'grant_types'],
    ['of another response', { response_types: ['token'] }, 'document_list_incomplete', 'response_types'],
    ['without a redirect URI', { redirect_uris: [] }, 'redirect_uri_missing', 'redirectUris'],
    ['with a list of numbers', { redirect_uris: [1] }, 'type', 'redirectUris'],
    ['with a scope that is not text', { scope: ['openid'] }, 'type', 'scope'],
    ['with a set as text', { ...SIGNS, jwks: '{"keys":[]}' }, 'type', 'jwks'],
    ['that signs without keys', SIGNS, 'document_keys_missing', 'jwks'],
    ['with two places of keys', { ...SIGNS, ...JWKS_URI, jwks: {} }, 'fields_exclude_each_other', 'jwks'],
    ['with a private key', { jwks: { keys: [{ kty: 'EC', d: 'x' }] } }, 'keys_invalid', 'jwks'],
    [
      'whose ID tokens have an unknown algorithm',
      { id_token_signed_response_alg: 'HS256' },
      'word_unknown',
      'id_token_signed_response_alg',
    ],
    [
      'that requires PAR with a text',
      { require_pushed_authorization_requests: 'true' },
      'type',
      'require_pushed_authorization_requests',
    ],
    ...[
      { require_signed_request_object: true },
      { tls_client_certificate_bound_access_tokens: true },
      { id_token_encrypted_response_alg: 'RSA-OAEP' },
      { subject_type: 'pairwise' },
    ].map((members): [string, object, string, string] => {
      const [member = ''] = Object.keys(members);
      return [`that demands ${member}`, members, 'document_member_unsupported', member];
    }),
  ])('%s is refused', (_what, members, id, field) => {
    const { problems } = errorOf(members) as InvalidDocumentError;
    expect(problems).toContainEqual(expect.objectContaining({ id, path: [field] }));
  });

  // RFC 8259 4
  it.each(['"client_name":"A","client_name":"B"', '"jwks":{"keys":[],"keys":[]}'])(
    'with the members %s is refused',
    (members) => {
      const text = `{"client_id":"${URL}","redirect_uris":["https://app.example.com/callback"],${members}}`;
      expect(() => readMetadataDocument(text, URL)).toThrow(/is given twice/);
    },
  );

  it('decides the rules of its client, but only to make them stricter', () => {
    const rules = (members: object) => {
      const { requirePar, dpopBound, idTokenAlg } = readMetadataDocument(documentOf(members), URL).client;
      return { requirePar, dpopBound, idTokenAlg };
    };
    expect(
      rules({
        require_pushed_authorization_requests: true,
        dpop_bound_access_tokens: true,
        id_token_signed_response_alg: 'ES256',
      }),
    ).toEqual({ requirePar: true, dpopBound: true, idTokenAlg: 'ES256' });
    expect(rules({ id_token_signed_response_alg: 'RS256' })).toEqual({ idTokenAlg: null });
    expect(rules({ require_pushed_authorization_requests: false, dpop_bound_access_tokens: false })).toEqual(
      {},
    );
  });

  it.each<[string, object, object]>([
    [
      'a private scheme',
      { redirect_uris: ['cursor://callback', 'https://app.example.com/callback'] },
      { redirectUris: ['https://app.example.com/callback'] },
    ],
    [
      'a repeated redirect URI',
      { redirect_uris: ['https://app.example.com/', 'https://app.example.com/'] },
      { redirectUris: ['https://app.example.com/'] },
    ],
    ['a contact in prose', { contacts: ['ask Ada', 'ada@example.com'] }, { contacts: ['ada@example.com'] }],
    ['contacts that are no list', { contacts: 'ada@example.com' }, { contacts: [] }],
    ['a long name', { client_name: 'x'.repeat(101) }, { name: 'app.example.com' }],
    ['an invisible name', { client_name: ' ' }, { name: 'app.example.com' }],
    ['an http policy link', { policy_uri: 'http://app.example.com/' }, { policyUri: null }],
    ['a home page that is no link', { client_uri: 'about us' }, { clientUri: null }],
    [
      'a post-logout redirect URI',
      { post_logout_redirect_uris: ['http://app.example.com/', 'https://app.example.com/bye'] },
      { postLogoutRedirectUris: ['https://app.example.com/bye'] },
    ],
    ['a logout URI', { backchannel_logout_uri: 'http://app.example.com/' }, { backchannelLogoutUri: null }],
  ])('is accepted without %s, which is reported', (_what, members, client) => {
    const read = readMetadataDocument(documentOf(members), URL);
    expect(read.client).toMatchObject(client);
    const [member = ''] = Object.keys(members);
    expect(read.leftOut).toMatch(/^left out: /);
    expect(read.leftOut).toContain(member);
  });

  it('of which everything is usable reports nothing', () => {
    expect(readMetadataDocument(documentOf({}), URL).leftOut).toBeNull();
  });

  it('is refused without any usable redirect URI, with every other problem', () => {
    const { problems } = errorOf({
      redirect_uris: ['cursor://callback'],
      contacts: ['x'],
    }) as InvalidDocumentError;
    expect(problems.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['redirect_uri_invalid', 'contact_invalid', 'redirect_uri_missing']),
    );
  });

  it('that is not a JSON object is refused', () => {
    for (const text of ['', '[]', 'null', '"x"', '{'])
      expect(() => readMetadataDocument(text, URL)).toThrow(InvalidDocumentError);
  });

  it('is refused with at most ten problems in the message', () => {
    const error = errorOf({
      redirect_uris: Array.from({ length: 20 }, (_, index) => `http://a.example/${index}`),
    });
    expect(error).toMatchObject({ message: expect.stringMatching(/and 11 more$/) as string });
  });
});

describe('the contacts of an application (RFC 7591 2)', () => {
  const problemsOf = (contacts: readonly string[]) =>
    validate(ClientMetadata, { name: 'App', redirectUris: ['https://app.example.com/'], contacts }).problems;

  it('are at most five', () => {
    const contacts = Array.from({ length: 6 }, (_, index) => `${index}@example.com`);
    expect(problemsOf(contacts)).toMatchObject([{ id: 'list_too_long', path: ['contacts'] }]);
    expect(problemsOf(contacts.slice(1))).toEqual([]);
  });

  it('are each an email address or a link', () => {
    expect(problemsOf(['help@example.com', 'nobody', 'https://app.example.com/'])).toEqual([
      { id: 'contact_invalid', path: ['contacts', 1], values: { given: 'nobody' } },
    ]);
  });
});
