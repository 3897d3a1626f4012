import { ConfigurationError, loadConfiguration } from '#platform/configuration/load-configuration.js';
import { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';
import { ProductKey } from './product.js';
import { generateKeyPairSync } from 'node:crypto';
import { readPublicKeys } from '../../src/configuration/product-keys.js';

const GOOD = {
  AUTH_URL: 'https://auth.example.com',
  BASE_URL: 'https://base.example.com',
  DATABASE_URL: 'postgres://u:p@localhost/db',
  REDIS_URL: 'redis://localhost',
  NATS_URL: 'nats://localhost',
  TOKEN_KEYS: 'A'.repeat(43),
};
const LOGIN_URL = 'https://app.example.com/oauth-login?x=1';
const LOGIN_PUBLIC_KEY = new ProductKey().pem;
const LOGIN_JWKS_URL = 'https://app.example.com/jwks.json';

function problems(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfiguration(AuthorizeConfiguration, { ...GOOD, ...env });
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

describe('the configuration of a login by signed JWT', () => {
  it.each([
    ['a public key', { LOGIN_URL, LOGIN_PUBLIC_KEY }],
    ['a JWKS URL', { LOGIN_URL, LOGIN_JWKS_URL }],
    ['no settings, for a login by password', {}],
    ['http in development', { LOGIN_URL: 'http://localhost:4000/login', LOGIN_PUBLIC_KEY }],
  ])('is accepted with %s', (_case, env) => {
    expect(problems(env)).toEqual([]);
  });

  it.each<[string, NodeJS.ProcessEnv, string[]]>([
    ['no key', { LOGIN_URL }, ['LOGIN_URL']],
    ['two sources of keys', { LOGIN_URL, LOGIN_PUBLIC_KEY, LOGIN_JWKS_URL }, ['LOGIN_URL']],
    ['only a key', { LOGIN_PUBLIC_KEY }, ['LOGIN_PUBLIC_KEY']],
    ['only a JWKS URL', { LOGIN_JWKS_URL }, ['LOGIN_JWKS_URL']],
    ['an invalid key', { LOGIN_URL, LOGIN_PUBLIC_KEY: 'secret' }, ['LOGIN_PUBLIC_KEY']],
    ['an invalid URL', { LOGIN_URL: 'app.example.com', LOGIN_PUBLIC_KEY }, ['LOGIN_URL']],
    ['a fragment', { LOGIN_URL: `${LOGIN_URL}#x`, LOGIN_PUBLIC_KEY }, ['LOGIN_URL']],
    [
      'a password in the URL',
      { LOGIN_URL: 'https://u:secret@app.example.com/', LOGIN_PUBLIC_KEY },
      ['LOGIN_URL'],
    ],
    [
      'http in production',
      {
        NODE_ENV: 'production',
        LOGIN_URL: 'http://app.example.com/',
        LOGIN_JWKS_URL: 'http://app.example.com/',
      },
      ['LOGIN_JWKS_URL', 'LOGIN_URL'],
    ],
    [
      'an additional OpenID provider',
      {
        LOGIN_URL,
        LOGIN_PUBLIC_KEY,
        LOGIN_ISSUER: 'https://op.example.com',
        LOGIN_CLIENT_ID: 'x',
        LOGIN_CLIENT_SECRET: 'y',
      },
      ['LOGIN_URL'],
    ],
  ])('is rejected with a message that names only the variable: %s', (_case, env, variables) => {
    const messages = problems(env);
    expect(messages.map((problem) => problem.split(' ', 1)[0])).toEqual(variables);
    expect(messages.join()).not.toContain('secret');
  });
});

describe('the parser of public keys', () => {
  const ed25519 = generateKeyPairSync('ed25519');
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pemOf = ({ publicKey }: typeof ed25519) =>
    publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const jwkOf = ({ publicKey }: typeof ed25519) => publicKey.export({ format: 'jwk' });

  const BOTH = [jwkOf(ed25519), jwkOf(p256)];

  it.each([
    ['PEM blocks', () => pemOf(ed25519) + pemOf(p256)],
    ['PEM blocks with \\n for line breaks', () => (pemOf(ed25519) + pemOf(p256)).replaceAll('\n', '\\n')],
    ['PEM blocks with Windows line breaks', () => (pemOf(ed25519) + pemOf(p256)).replaceAll('\n', '\r\n')],
    ['a JWK Set', () => JSON.stringify({ keys: BOTH })],
    [
      'a JWK Set with kid and use',
      () => JSON.stringify({ keys: BOTH.map((key) => ({ ...key, kid: 'a', use: 'sig' })) }),
    ],
  ])('accepts %s', (_case, text) => {
    expect(readPublicKeys(text())).toEqual(BOTH);
  });

  it('accepts a single JWK', () => {
    expect(readPublicKeys(JSON.stringify(jwkOf(p256)))).toEqual([jwkOf(p256)]);
  });

  const privatePem = (type: 'pkcs8' | 'sec1') => p256.privateKey.export({ type, format: 'pem' }).toString();
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

  it.each([
    ['a private key in PEM', privatePem('pkcs8'), 'PUBLIC KEY'],
    ['an EC private key in PEM', privatePem('sec1'), 'PUBLIC KEY'],
    ['a private JWK', JSON.stringify(ed25519.privateKey.export({ format: 'jwk' })), 'private key'],
    ['a symmetric JWK', JSON.stringify({ kty: 'oct', k: 'AAAA' }), 'private key'],
    ['an RSA key', pemOf(rsa), 'Ed25519'],
    ['an RSA JWK', JSON.stringify(jwkOf(rsa)), 'Ed25519'],
    ['a key of another curve', pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' })), 'Ed25519'],
    ['an Ed448 key', pemOf(generateKeyPairSync('ed448')), 'Ed25519'],
    ['an encryption key', pemOf(generateKeyPairSync('x25519')), 'Ed25519'],
    ['a corrupted PEM block', pemOf(ed25519).replace('MCow', 'MCox'), 'cannot be read'],
    ['a truncated PEM block', pemOf(ed25519).slice(0, -20), 'neither PEM'],
    ['a key followed by other text', `${pemOf(ed25519)}secret`, 'neither PEM'],
    ['an empty JWK Set', '{"keys":[]}', 'no key'],
    ['a JWK Set that contains null', '{"keys":[null]}', 'cannot be read'],
    ['an object that is not a key', '{}', 'cannot be read'],
    ['truncated JSON', '{"kty":', 'not JSON'],
    ['other text', 'secret', 'neither PEM'],
  ])('rejects a value without quoting it: %s', (_case, text, reason) => {
    expect(() => readPublicKeys(text)).toThrow(reason);
    expect(() => readPublicKeys(text)).not.toThrow(/secret|MC/);
  });
});
