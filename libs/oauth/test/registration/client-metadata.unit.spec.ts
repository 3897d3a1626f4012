import { linkProblems } from '#oauth/registration/client-links.js';
import { InvalidDocumentError, readMetadataDocument } from '#oauth/registration/metadata-document.js';

const URL = 'https://app.example.com/client.json';
const JWKS_URI = { jwks_uri: 'https://app.example.com/jwks.json' };

function typeOf(members: object): string {
  const document = { client_id: URL, redirect_uris: ['https://app.example.com/callback'], ...members };
  return readMetadataDocument(JSON.stringify(document), URL).client.type;
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
      message: expect.stringContaining(`${secret} is refused`) as string,
    });
  });
});

const linkProblemsOf = (links: Parameters<typeof linkProblems>[0]) => linkProblems(links, (field) => field);

describe('the links and contacts of an application (RFC 7591 2)', () => {
  it.each([
    'https://app.example.com',
    'https://app.example.com/privacy?a=1#b',
    'http://localhost:3000/',
    'http://127.0.0.1:3000/help',
  ])('may be %s', (uri) => {
    expect(linkProblemsOf({ clientUri: uri, policyUri: uri, contacts: [uri] })).toEqual([]);
  });

  it.each([
    'http://app.example.com/',
    'javascript:alert(1)',
    'data:text/html,x',
    '//app.example.com/',
    '/privacy',
    'https://user:password@app.example.com/',
    'https://app.example.com/a b',
    'https://app.example.com/\nx',
    'https://app.example.com\\@evil.example/',
    'https://APP.example.com/',
    'https://пример.example/',
    `https://app.example.com/${'x'.repeat(500)}`,
    '',
  ])('must not be %j', (uri) => {
    expect(linkProblemsOf({ clientUri: uri, policyUri: uri, contacts: [uri] })).toEqual([
      expect.stringMatching(/^clientUri .* must be an https URL$/),
      expect.stringMatching(/^policyUri .* must be an https URL$/),
      expect.stringMatching(/^contacts .* must be an email address or an https URL$/),
    ]);
  });

  it.each(['help@example.com', 'first.last+tag@mail.example.com'])(
    'may include the email address %s',
    (contact) => {
      expect(linkProblemsOf({ contacts: [contact] })).toEqual([]);
    },
  );

  it.each([
    'Help <help@example.com>',
    'help@example.com,a@b.example',
    'mailto:help@example.com',
    'help@',
    'a@b',
  ])('must not include the email address %j', (contact) =>
    expect(linkProblemsOf({ contacts: [contact] })).toHaveLength(1),
  );

  it('include at most five contacts', () => {
    const contacts = Array.from({ length: 6 }, (_, index) => `${index}@example.com`);
    expect(linkProblemsOf({ contacts })).toEqual(['contacts has more than 5: give fewer']);
  });
});
