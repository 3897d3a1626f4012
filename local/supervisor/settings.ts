import { join, resolve } from 'node:path';
import { generateIdTokenKeys, SigningKeys } from '#oauth/openid/signing-keys.js';
import { DEFAULT_SCOPES_FILE } from '#scopes/scope-file.js';
import { DEFAULT_SCHEMA, isSchemaName, SCHEMA_RULE } from '#platform/configuration/variables.js';
import { randomBytes } from 'node:crypto';
import { generateClientId, generateClientSecret } from '#oauth/oauth-client.js';
import { keptSecret } from '../servers/service-folder.js';

/** Error with instructions for the user, shown without a stack. */
export class StartError extends Error {
  override name = 'StartError';
}

/** Ports in the URLs that browsers and applications use. */
export interface Ports {
  AUTHORIZE_PORT: number;
  TOKEN_PORT: number;
  RESOURCE_PORT: number;
  DEMO_PORT: number;
  CONSOLE_PORT: number;
  DEVELOPERS_PORT: number;
}

export interface Settings {
  /** LOCAL_DIR, or `.local` by default. */
  directory: string;
  schema: string;
  scopesFile: string;
  /** LOGIN_URL or LOGIN_ISSUER; absent if users log in with a password. */
  loginAt?: string;
  /** TOKEN_KEYS, which replaces the stored key. */
  tokenKeys?: string;
  /** ID_TOKEN_KEYS with private keys, which replaces the stored keys. */
  idTokenKeys?: string;
  /** True to migrate and seed the database of DATABASE_URL. */
  seed: boolean;
  ports: Ports;
  authUrl: string;
  baseUrl: string;
  apiUrl: string;
  /** OTHER_API_URLS; empty for none. */
  otherApiUrls: string;
  /** OUTSIDE_FETCH_ALLOW; this machine by default, because applications under development run on it. */
  outsideFetchAllow: string;
  demoUrl: string;
  redirectUri: string;
  consoleUrl: string;
  developersUrl: string;
}

const SEED = '--seed';
const DEFAULTS: Ports = {
  DEMO_PORT: 3000,
  AUTHORIZE_PORT: 3001,
  TOKEN_PORT: 3002,
  RESOURCE_PORT: 3003,
  CONSOLE_PORT: 3004,
  DEVELOPERS_PORT: 3005,
};

/** @throws StartError that lists every problem */
export function readSettings(env: NodeJS.ProcessEnv, args: readonly string[]): Settings {
  if (env['NODE_ENV'] === 'production') {
    throw new StartError(
      'npm start is for development and NODE_ENV is production: start the apps themselves (see docs/configuration.md)',
    );
  }
  const problems = args
    .filter((argument) => argument !== SEED)
    .map((argument) => `unknown argument "${argument}": npm start takes only ${SEED}`);
  const schema = env['DATABASE_SCHEMA'] || DEFAULT_SCHEMA;
  if (!isSchemaName(schema)) problems.push(`DATABASE_SCHEMA must be ${SCHEMA_RULE}`);
  const ports = { ...DEFAULTS };
  const users = new Map<number, string>();
  for (const name of Object.keys(DEFAULTS) as (keyof Ports)[]) {
    const given = env[name] || String(DEFAULTS[name]);
    const port = /^\d{1,5}$/.test(given) ? Number(given) : 0;
    if (port < 1 || port > 65_535) problems.push(`${name} must be a port from 1 to 65535, not "${given}"`);
    else if (users.has(port))
      problems.push(`${name} and ${users.get(port)} are both ${port}: set different ports`);
    users.set(port, name);
    ports[name] = port;
  }
  const idTokenKeys = env['ID_TOKEN_KEYS'];
  if (idTokenKeys) problems.push(...idTokenKeyProblems(idTokenKeys));
  if (problems.length > 0) throw new StartError(problems.join('\n'));
  const loginAt = env['LOGIN_URL'] || env['LOGIN_ISSUER'];
  const tokenKeys = env['TOKEN_KEYS'];
  const at = (port: number): string => `http://localhost:${port}`;
  return {
    directory: resolve(env['LOCAL_DIR'] || '.local'),
    schema,
    scopesFile: resolve(env['SCOPES_FILE'] || DEFAULT_SCOPES_FILE),
    ...(loginAt && { loginAt }),
    ...(tokenKeys && { tokenKeys }),
    ...(idTokenKeys && { idTokenKeys }),
    seed: args.includes(SEED),
    ports,
    authUrl: at(ports.AUTHORIZE_PORT),
    baseUrl: at(ports.TOKEN_PORT),
    apiUrl: at(ports.RESOURCE_PORT),
    otherApiUrls: env['OTHER_API_URLS'] ?? '',
    outsideFetchAllow: env['OUTSIDE_FETCH_ALLOW'] ?? 'localhost,127.0.0.1,::1',
    demoUrl: at(ports.DEMO_PORT),
    redirectUri: `${at(ports.DEMO_PORT)}/callback`,
    consoleUrl: at(ports.CONSOLE_PORT),
    developersUrl: at(ports.DEVELOPERS_PORT),
  };
}

function idTokenKeyProblems(text: string): string[] {
  try {
    return SigningKeys.parse(text).canSign
      ? []
      : ['ID_TOKEN_KEYS must be private keys, which sign ID tokens'];
  } catch (error) {
    return [`ID_TOKEN_KEYS is invalid: ${(error as Error).message}`];
  }
}

/** Keys of the product, and credentials of the demo, the console and the portal. */
export interface Account {
  tokenKeys: string;
  idTokenKeys: string;
  clientId: string;
  clientSecret: string;
  consoleClientId: string;
  consoleClientSecret: string;
  developersClientId: string;
  developersClientSecret: string;
  email: string;
  password: string;
}

export async function demoAccount(settings: Settings): Promise<Account> {
  const kept = (name: string, make: () => string | Promise<string>): Promise<string> =>
    keptSecret(join(settings.directory, name), make);
  const { DEMO_PORT, CONSOLE_PORT, DEVELOPERS_PORT } = settings.ports;
  const secret = (name: string) => kept(name, () => generateClientSecret().secret);
  return {
    tokenKeys: settings.tokenKeys ?? (await kept('token-keys', () => randomBytes(32).toString('base64url'))),
    idTokenKeys: settings.idTokenKeys ?? (await kept('id-token-keys', generateIdTokenKeys)),
    // Redirect URIs contain the port, so the demo application on another port is another client.
    clientId: await kept(`demo-client-id-${DEMO_PORT}`, generateClientId),
    clientSecret: await secret('demo-client-secret'),
    consoleClientId: await kept(`console-client-id-${CONSOLE_PORT}`, generateClientId),
    consoleClientSecret: await secret('console-client-secret'),
    developersClientId: await kept(`developers-client-id-${DEVELOPERS_PORT}`, generateClientId),
    developersClientSecret: await secret('developers-client-secret'),
    email: 'ada@example.com',
    // 80 random bits are short enough to type.
    password: await kept('demo-password', () => randomBytes(10).toString('hex')),
  };
}
