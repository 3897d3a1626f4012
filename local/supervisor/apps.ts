import { publicIdTokenKeys } from '#oauth/openid/generate-keys.js';
import type { BackingServices } from '../servers/backing-services.js';
import type { AppCommand } from './app.js';
import type { Account } from './demo-account.js';
import type { Settings } from './settings.js';

// Only the apps that need these variables receive them.
const SECRETS = new Set([
  'DATABASE_URL',
  'REDIS_URL',
  'NATS_URL',
  'AUDIT_NATS_URL',
  'TOKEN_KEYS',
  'ID_TOKEN_KEYS',
  'CLIENT_ID',
  'CLIENT_SECRET',
]);

/** The product's processes with their environments. Other variables, such as lifetimes, are inherited. */
export function appCommands(
  settings: Settings,
  account: Account,
  services: BackingServices,
  runFile: string,
  env: NodeJS.ProcessEnv,
): AppCommand[] {
  const {
    authUrl: AUTH_URL,
    baseUrl: BASE_URL,
    apiUrl: API_URL,
    redirectUri: REDIRECT_URI,
    ports,
  } = settings;
  const common = {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !SECRETS.has(name))),
    NODE_ENV: env['NODE_ENV'] || 'development',
    LOG_LEVEL: env['LOG_LEVEL'] || 'info',
    HOST: '127.0.0.1',
    BASE_URL,
  };
  const nats = { NATS_URL: services.natsUrl, AUDIT_NATS_URL: env['AUDIT_NATS_URL'] };
  const stateful = {
    ...common,
    AUTH_URL,
    API_URL,
    DATABASE_URL: services.databaseUrl,
    REDIS_URL: services.redisUrl,
    ...nats,
    TOKEN_KEYS: account.tokenKeys,
  };
  const tokenEnv = { ...stateful, ID_TOKEN_KEYS: account.idTokenKeys };
  const authorizeEnv = { ...stateful, ID_TOKEN_KEYS: publicIdTokenKeys(account.idTokenKeys) };
  const client = { CLIENT_ID: account.clientId, CLIENT_SECRET: account.clientSecret, REDIRECT_URI };
  const app = (name: string) => ({ name, main: `apps/${name}/src/main`, internal: true });
  return [
    // Its guard also deletes the run file if npm start is killed.
    { ...app('authorize'), port: ports.AUTHORIZE_PORT, env: authorizeEnv, remove: [runFile] },
    { ...app('token'), port: ports.TOKEN_PORT, env: tokenEnv },
    { ...app('resource'), port: ports.RESOURCE_PORT, env: { ...common, API_URL, ...nats } },
    {
      name: 'demo-app',
      main: 'local/demo-app/main',
      internal: false,
      port: ports.DEMO_PORT,
      env: { ...common, ...client, AUTH_URL, API_URL },
    },
  ];
}
