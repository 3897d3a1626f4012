import { ConfigurationError, loadConfiguration } from '#platform/configuration/load-configuration.js';
import { AuthorizeConfiguration } from '../../src/authorize.configuration.js';
import { ProductKey } from './product.js';

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

it.each([
  ['a public key', { LOGIN_URL, LOGIN_PUBLIC_KEY }],
  ['a URL of keys', { LOGIN_URL, LOGIN_JWKS_URL }],
  ['neither, for login by password', {}],
  ['http in development', { LOGIN_URL: 'http://localhost:4000/login', LOGIN_PUBLIC_KEY }],
])('accepts the configuration of a login by signed JWT with %s', (_case, env) => {
  expect(problems(env)).toEqual([]);
});

it.each<[string, NodeJS.ProcessEnv, string[]]>([
  ['no key', { LOGIN_URL }, ['LOGIN_URL']],
  ['two sources of keys', { LOGIN_URL, LOGIN_PUBLIC_KEY, LOGIN_JWKS_URL }, ['LOGIN_URL']],
  ['only a key', { LOGIN_PUBLIC_KEY }, ['LOGIN_PUBLIC_KEY']],
  ['only a URL of keys', { LOGIN_JWKS_URL }, ['LOGIN_JWKS_URL']],
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
])(
  'rejects the configuration of a login by signed JWT with %s, naming only the variable',
  (_case, env, variables) => {
    const found = problems(env);
    expect(found.map((problem) => problem.split(' ', 1)[0])).toEqual(variables);
    expect(found.join()).not.toContain('secret');
  },
);
