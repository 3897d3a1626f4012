import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { generateClientId, generateClientSecret } from '#oauth/client.js';
import { keptSecret } from '../servers/kept-secret.js';
import type { Settings } from './settings.js';

/** The secrets of a development installation, generated once and kept in files that only their owner can read. */
export interface Account {
  /** As the variable TOKEN_KEYS. */
  tokenKeys: string;
  clientId: string;
  clientSecret: string;
  email: string;
  password: string;
}

/** Reads the secrets of an earlier start, or generates them. */
export async function demoAccount(settings: Settings): Promise<Account> {
  const kept = (name: string, make: () => string): Promise<string> =>
    keptSecret(join(settings.directory, name), make);
  const [tokenKeys, clientId, clientSecret, password] = await Promise.all([
    settings.tokenKeys ?? kept('token-keys', () => randomBytes(32).toString('base64url')),
    // Redirect URIs contain the port: on another port the demo application is another client.
    kept(`demo-client-id-${settings.ports.DEMO_PORT}`, generateClientId),
    kept('demo-client-secret', () => generateClientSecret().secret),
    // Short enough to type: 80 random bits.
    kept('demo-password', () => randomBytes(10).toString('hex')),
  ]);
  return { tokenKeys, clientId, clientSecret, email: 'ada@example.com', password };
}
