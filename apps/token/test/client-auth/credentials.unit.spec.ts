import { ASSERTION_TYPE, ClientKey } from '#test/support/keys.js';
import { readCredentials } from '../../src/client-auth/client-authenticator.js';
import type { ClientDto } from '../../src/client-auth/client-credentials.dto.js';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('the credentials of a request', () => {
  // @rfc 6749 2.3.1
  it.each<[string, string | undefined, ClientDto, object]>([
    ['the body', undefined, { client_id: 'sc_a', client_secret: 's' }, ['sc_a', 's', 'body']],
    ['the body of a public client', undefined, { client_id: 'sc_a' }, ['sc_a', undefined, 'body']],
    ['the body of a request with a DPoP token', 'DPoP x', { client_id: 'sc_a' }, ['sc_a', undefined, 'body']],
    ['HTTP Basic', basic('sc_a:s'), {}, ['sc_a', 's', 'basic']],
    [
      'HTTP Basic with the scheme in another case',
      basic('sc_a:s').replace('Basic', 'bAsIc '),
      {},
      ['sc_a', 's', 'basic'],
    ],
    ['HTTP Basic with the client_id', basic('sc_a:s'), { client_id: 'sc_a' }, ['sc_a', 's', 'basic']],
    ['HTTP Basic, form-encoded', basic('sc%5Fa:a+b%3A'), {}, ['sc_a', 'a b:', 'basic']],
    ['HTTP Basic with a colon in the secret', basic('sc_a:a:b'), {}, ['sc_a', 'a:b', 'basic']],
    // @rfc 6749 2.3.1
    ['HTTP Basic with several spaces', basic('sc_a:s').replace(' ', '   '), {}, ['sc_a', 's', 'basic']],
    ['HTTP Basic without a secret', basic('sc_a:'), {}, ['sc_a', undefined, 'basic']],
  ])('are read from %s', (_source, authorization, body, expected) => {
    const { clientId, clientSecret, method } = readCredentials(authorization, body);
    expect([clientId, clientSecret, method]).toEqual(expected);
  });

  // @rfc 7521 4.2
  it('are read from an assertion, with or without the client_id', async () => {
    const jwt = await (await ClientKey.generate()).assertion('sc_a', 'https://base.example.com');
    const body = { client_assertion: jwt, client_assertion_type: ASSERTION_TYPE };
    for (const more of [{}, { client_id: 'sc_a' }])
      expect(readCredentials(undefined, { ...body, ...more })).toMatchObject({
        clientId: 'sc_a',
        clientSecret: undefined,
        method: 'body',
        assertion: { clientId: 'sc_a' },
      });
    expect(() => readCredentials(undefined, { ...body, client_id: 'sc_b' })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        detail: expect.objectContaining({ check: 'client_id_mismatch' }),
      }),
    );
  });

  const assertion = { client_assertion: 'x.y.z', client_assertion_type: ASSERTION_TYPE };

  it.each<[string, string | undefined, ClientDto, string, string]>([
    ['no client_id', undefined, {}, 'invalid_request', 'client_id_missing'],
    [
      'Basic and a secret',
      basic('sc_a:s'),
      { client_secret: 's' },
      'invalid_request',
      'client_authentication_ambiguous',
    ],
    [
      'Basic and an assertion',
      basic('sc_a:s'),
      assertion,
      'invalid_request',
      'client_authentication_ambiguous',
    ],
    [
      'a secret and an assertion',
      undefined,
      { ...assertion, client_secret: 's' },
      'invalid_request',
      'client_authentication_ambiguous',
    ],
    ['two client ids', basic('sc_a:s'), { client_id: 'sc_b' }, 'invalid_request', 'client_id_mismatch'],
    [
      'an assertion without its type',
      undefined,
      { client_assertion: 'x.y.z' },
      'invalid_client',
      'client_assertion_type_unsupported',
    ],
    [
      'a type without its assertion',
      undefined,
      { client_assertion_type: ASSERTION_TYPE },
      'invalid_client',
      'client_assertion_type_unsupported',
    ],
  ])('are refused: %s', (_rule, authorization, body, code, check) => {
    expect(() => readCredentials(authorization, body)).toThrow(
      expect.objectContaining({ code, detail: expect.objectContaining({ check }) }),
    );
  });

  // @rfc 6749 5.2
  it.each(['Basic', 'Basic !', basic('sc_a'), basic(':s'), basic('sc%:s'), basic('sc%ff:s')])(
    'are rejected with a challenge if the Authorization header is %j',
    (authorization) => {
      expect(() => readCredentials(authorization, {})).toThrow(
        expect.objectContaining({
          code: 'invalid_client',
          detail: { check: 'basic_credentials_malformed' },
          headers: { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' },
        }),
      );
    },
  );
});
