import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { generateIdTokenKeys } from '#oauth/openid/generate-keys.js';
import { generateClientId, generateClientSecret } from '#oauth/client.js';
import { keptSecret } from '../servers/kept-secret.js';
import type { Settings } from './settings.js';

/** The secrets of a development installation, generated once and kept in files that only their owner can read. */
export interface Account {
  /** As the variable TOKEN_KEYS. */
  tokenKeys: string;
  /** As the variable ID_TOKEN_KEYS of the token app: private keys. */
  idTokenKeys: string;
  clientId: string;
  clientSecret: string;
  email: string;
  password: string;
}

/** Reads the secrets of an earlier start, or generates them. */
export async function demoAccount(settings: Settings): Promise<Account> {
  const kept = (name: string, make: () => string | Promise<string>): Promise<string> =>
    keptSecret(join(settings.directory, name), make);
  const [tokenKeys, idTokenKeys, clientId, clientSecret, password] = await Promise.all([
    settings.tokenKeys ?? kept('token-keys', () => randomBytes(32).toString('base64url')),
    settings.idTokenKeys ?? kept('id-token-keys', generateIdTokenKeys),
    // Redirect URIs contain the port: on another port the demo application is another client.
    kept(`demo-client-id-${settings.ports.DEMO_PORT}`, generateClientId),
    kept('demo-client-secret', () => generateClientSecret().secret),
    // Short enough to type: 80 random bits.
    kept('demo-password', () => randomBytes(10).toString('hex')),
  ]);
  return { tokenKeys, idTokenKeys, clientId, clientSecret, email: 'ada@example.com', password };
}
