import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Account } from './demo-account.js';
import type { InternalUrls } from './run-file.js';
import type { Settings } from './settings.js';

/** The addresses and credentials of the running product. */
export function summary(settings: Settings, account: Account, internal: InternalUrls): string {
  const rows: [string, string][] = [
    ['authorize', settings.authUrl],
    ['token', settings.baseUrl],
    ['resource', settings.apiUrl],
    ['health, metrics', internal.map(([name, url]) => `${url} (${name})`).join(', ')],
  ];
  const application: [string, string][] = [
    ['client id', account.clientId],
    ['client secret', account.clientSecret],
    ['authorization URL', settings.authUrl + ENDPOINTS.authorize],
    ['access token URL', settings.baseUrl + ENDPOINTS.token],
    ['refresh token URL', settings.baseUrl + ENDPOINTS.refreshToken],
    // OpenID Connect: libraries need no other URL.
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
  // The demo logs in with a password.
  const commands = [
    ...(settings.loginAt ? [] : ['npm run demo', 'npm run demo:operator']),
    'npx operator --help',
  ];
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
