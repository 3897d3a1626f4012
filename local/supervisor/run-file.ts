import { rename, writeFile } from 'node:fs/promises';
import type { BackingServices } from '../servers/backing-services.js';
import type { Account } from './demo-account.js';
import type { Settings } from './settings.js';

/** The URL of each service's health and metrics endpoints, by its name. */
export type InternalUrls = readonly (readonly [name: string, url: string])[];

/** Writes where the running product is, for other programs of this folder. Atomic; only the owner can read it. */
export async function writeRunFile(
  file: string,
  settings: Settings,
  account: Account,
  services: BackingServices,
  internal: InternalUrls,
  auditUrl: string | undefined,
): Promise<void> {
  const content = {
    auth_url: settings.authUrl,
    base_url: settings.baseUrl,
    api_url: settings.apiUrl,
    other_api_urls: settings.otherApiUrls,
    internal: Object.fromEntries(internal),
    client: {
      client_id: account.clientId,
      client_secret: account.clientSecret,
      redirect_uri: settings.redirectUri,
    },
    user: settings.loginAt
      ? { login_at: settings.loginAt }
      : { email: account.email, password: account.password },
    database_url: services.databaseUrl,
    scopes_file: settings.scopesFile,
    database_schema: settings.schema,
    redis_url: services.redisUrl,
    nats_url: services.natsUrl,
    audit_nats_url: auditUrl,
    token_keys: account.tokenKeys,
    id_token_keys: account.idTokenKeys,
  };
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}
