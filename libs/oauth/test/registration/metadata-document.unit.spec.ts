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

// @client metadata document 6
describe('the authentication method of a document', () => {
  it.each<[string, 'public' | 'confidential', object]>([
    ['is none by default, also with keys', 'public', JWKS_URI],
    ['is its token_endpoint_auth_method', 'confidential', { token_endpoint_auth_method: 'private_key_jwt' }],
    [
      'is its token_endpoint_auth_method, whatever else is supported',
      'public',
      {
        token_endpoint_auth_method: 'none',
        token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'],
      },
    ],
    [
      'is never none because only the list is present',
      'confidential',
      { token_endpoint_auth_methods_supported: ['tls_client_auth', 'private_key_jwt'] },
    ],
    [
      'is by keys if the list has both',
      'confidential',
      { token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'] },
    ],
    [
      'comes from the list if the preferred one is not supported',
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
    ['has an empty list', {}, [], true],
    ['is unknown', {}, ['spiffe_jwt'], true],
  ])('is refused if it %s', (_what, members, supported, hasUnsupportedMethod) => {
    const error = errorOf({ ...JWKS_URI, ...members, token_endpoint_auth_methods_supported: supported });
    expect(error).toBeInstanceOf(InvalidDocumentError);
    expect(error).toMatchObject({ hasUnsupportedMethod });
  });

  // @client metadata document 4.1
  it.each(['client_secret_basic', 'client_secret_post', 'client_secret_jwt'])(
    'is refused as %s',
    (secret) => {
      expect(errorOf({ token_endpoint_auth_methods_supported: ['none', secret] })).toMatchObject({
        message: expect.stringContaining(`${secret} is refused`) as string,
      });
    },
  );
});
