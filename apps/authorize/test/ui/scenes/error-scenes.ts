import type { Client } from '#clients/client.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { type Advice, ERROR_KINDS, type ErrorKind } from '../../../src/ui/errors/error-kind.js';
import { errorPage } from '../../../src/ui/errors/error.page.js';
import type { UserPage } from '../../../src/ui/user-page.responder.js';
import { Translator } from '../../../src/ui/i18n/language.service.js';
import type { Scene } from './scene.js';
import { show } from './show.js';
import { registeredClient } from '#test/support/stored.js';

const RIGHT = 'https://auth.scheduling.example';
const ADDRESSES = {
  cookie_host: 'https://127.0.0.1:3001',
  cookie_http: 'http://auth.scheduling.example',
  cookie_https: 'https://auth.scheduling.example',
};

const DETAIL = {
  client_id: 'sc_3q2-7wAAAAAAAAAAAAAAAA',
  redirect_uri: 'https://calendar-connect.example/callback/?tenant=7&next=%2Fsettings%2Fcalendars',
};

const ADVICE_WITH_BUTTON: readonly Advice[] = [
  'start_again',
  'continue',
  'allow_cookies',
  'wait',
  'contact_us',
];

const KNOWN_CLIENT: readonly ErrorKind[] = [
  'client_disabled',
  'client_testing',
  'redirect_missing',
  'redirect_mismatch',
  'request_expired',
];

const CLIENT: Client = registeredClient({
  clientId: DETAIL.client_id,
  clientUri: 'https://calendar-connect.example/',
  policyUri: 'https://calendar-connect.example/privacy',
  contacts: ['support@calendar-connect.example'],
  createdAt: new Date('2024-03-14'),
});

function clientOf(kind: ErrorKind): Client {
  if (kind === 'client_testing') return { ...CLIENT, stage: 'testing' };
  return kind === 'client_disabled' ? { ...CLIENT, disabledAt: new Date('2026-11-20') } : CLIENT;
}

export const REFERENCE = '01a2b3c4d5e6f708';

export const ERROR_SCENES: readonly Scene[] = (Object.keys(ERROR_KINDS) as ErrorKind[]).map((kind) => ({
  name: `error-${kind.replaceAll('_', '-')}`,
  visitor: () => null,
  open: (page, { app }, locale) => show(page, app, pageOf(kind, new Translator(locale))),
}));

function pageOf(kind: ErrorKind, translator: Translator): UserPage {
  const { advice } = ERROR_KINDS[kind];
  const opened = (ADDRESSES as Record<string, string>)[kind];
  const values = { name: 'Ada Lovelace', right: RIGHT, opened: opened ?? RIGHT };
  const error = OAuthError.invalidRequest('redirect_uri_unregistered', { detail: DETAIL });
  return errorPage({
    translator,
    error,
    kind,
    values,
    reference: REFERENCE,
    client: KNOWN_CLIENT.includes(kind) ? clientOf(kind) : null,
    query: 'client_id=x&redirect_uri=x&state=x&scope=x&code_challenge=x&code_challenge_method=S256',
    next: ADVICE_WITH_BUTTON.includes(advice) ? '/auth/login' : null,
    ...(opened && { hints: [{ id: 'error.hint.auth_url', values }, { id: 'error.hint.proxy' }] }),
  });
}
