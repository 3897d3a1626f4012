import { rename, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { BackingServices } from '../servers/backing-services.js';
import { MAIL_FOLDER } from './mailbox.js';
import type { Account, Settings } from './settings.js';
import { ENDPOINTS } from '#oauth/endpoints.js';

/** URLs of health and metrics endpoints. */
export type InternalUrls = readonly (readonly [name: string, url: string])[];

/** Writes run.json atomically for other programs. Only the owner can read the file. */
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
    ...(settings.loginAt === undefined && { console_url: settings.consoleUrl }),
    developers_url: settings.developersUrl,
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
    outside_fetch_allow: settings.outsideFetchAllow,
  };
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

export function summary(
  settings: Settings,
  account: Account,
  internal: InternalUrls,
  hasMailbox: boolean,
): string {
  const rows: [string, string][] = [
    ['authorize', settings.authUrl],
    ['token', settings.baseUrl],
    ['resource', settings.apiUrl],
    ['health, metrics', internal.map(([name, url]) => `${url} (${name})`).join(', ')],
  ];
  if (settings.loginAt === undefined)
    rows.push(['console', `${settings.consoleUrl} (log in as the demo user)`]);
  rows.push([
    'developers',
    `${settings.developersUrl} (log in as ${settings.loginAt ? 'any' : 'the demo'} user)`,
  ]);
  if (hasMailbox)
    rows.push(['mails', `${relative('', join(settings.directory, MAIL_FOLDER))} (one file for each mail)`]);
  const application: [string, string][] = [
    ['client id', account.clientId],
    ['client secret', account.clientSecret],
    ['authorization URL', settings.authUrl + ENDPOINTS.authorize],
    ['access token URL', settings.baseUrl + ENDPOINTS.token],
    ['refresh token URL', settings.baseUrl + ENDPOINTS.refreshToken],
    // An OpenID Connect library needs only this URL.
    ['issuer', settings.baseUrl],
    ['OpenID discovery', settings.baseUrl + ENDPOINTS.openIdConfiguration],
  ];
  const accountPage = settings.authUrl + ENDPOINTS.account;
  const user: [string, string][] = settings.loginAt
    ? [
        ['log in at', settings.loginAt],
        ['account', accountPage],
      ]
    : [
        ['email', account.email],
        ['password', account.password],
        ['account', accountPage],
      ];
  // The demo needs a login with a password.
  const commands = [...(settings.loginAt ? [] : ['npm run demo']), 'npx operator --help'];
  return [
    '',
    'Services',
    ...table(rows),
    '',
    'Demo application "Calendar Connect"',
    ...table(application),
    '',
    settings.loginAt ? 'Users' : 'Demo user',
    ...table(user),
    '',
    `Begin here:  ${settings.demoUrl}`,
    `In another terminal: ${commands.join(', ')}`,
    'Press Ctrl-C to stop; the data are kept.',
    '',
  ].join('\n');
}

function table(rows: readonly [string, string][]): string[] {
  return rows.map(([name, value]) => `  ${name.padEnd(18)}${value}`);
}
