import { createHash } from 'node:crypto';
import { jest } from '@jest/globals';
import type { Response } from 'supertest';
import { PushedRequestStore } from '#grants/pushed-request.store.js';
import { generateRequestUri, pushedRequestId } from '#oauth/pushed-request.js';
import type { Client } from '#clients/client.js';
import type { ErrorKind } from '../../src/ui/errors/error-kind.js';
import { PasswordGate } from '../../src/login/password.service.js';
import {
  authorize,
  authorizeAddress,
  REDIRECT_URI,
  type RequestParameters,
  type useProxiedAuthorizeApp,
} from './start-authorize-app.js';
import { formsOf } from '#local/demo/html-form.js';
import { freshAddress, tryLogin } from './throttle-guesser.js';
import { storePushed } from './use-pushed-requests.js';
import { disableClients, storeApiClient } from '#test/support/stored.js';

type Failure = [what: string, check: string | null, kind: ErrorKind, provoke: () => Promise<Response>];

/** Error pages, each with its failed check and its kind. One entry disconnects Redis. */
export function everyError({
  app,
  client,
  user,
  proxies,
}: ReturnType<typeof useProxiedAuthorizeApp>): Failure[] {
  const ask = (overrides: RequestParameters) => authorize(app, client, overrides);

  async function pushed(by: Client, then: 'nothing' | 'answered'): Promise<string> {
    const parameters = { redirect_uri: REDIRECT_URI, state: 's' };
    const requestUri = await storePushed(app.redis, by.clientId, parameters);
    const id = pushedRequestId(requestUri) ?? '';
    if (then === 'answered') await new PushedRequestStore(app.redis).answer(id, by.clientId, null, 60);
    return requestUri;
  }

  const openPushed = async (requestUri: string): Promise<Response> =>
    app.browser().get(authorizeAddress({ client_id: client.clientId, request_uri: requestUri }));

  async function login(headers: Record<string, string>, prepare = (_cookies: Map<string, string>) => {}) {
    const browser = app.browser();
    const [form] = formsOf((await browser.get('/auth/login')).text);
    prepare(browser.cookies);
    return browser.post('/auth/login', { ...form?.hidden }, headers);
  }

  async function loginAtFullGate(): Promise<Response> {
    const full = new PasswordGate(1, 0);
    let leave = () => {};
    const inside = full.run(() => new Promise<void>((resolve) => (leave = resolve)));
    const refuse = full.run.bind(full);
    const run = jest.spyOn(PasswordGate.prototype, 'run').mockImplementation(refuse);
    try {
      return await tryLogin(app, { username: 'nobody', from: freshAddress() });
    } finally {
      run.mockRestore();
      leave();
      await inside;
    }
  }

  async function setLanguage(locale: string): Promise<Response> {
    const browser = await app.loggedIn(user);
    return browser.submit(await browser.get('/auth/'), { locale }, '/auth/language');
  }

  async function brokenSession(): Promise<Response> {
    const browser = await app.loggedIn(user);
    const cookie = browser.cookies.get('oauth_service_session') ?? '';
    await app.redis.set(`session:${createHash('sha256').update(cookie).digest('base64url')}`, '{');
    return browser.get('/auth/');
  }

  async function duringRedisOutage(): Promise<Response> {
    const browser = await app.loggedIn(user);
    proxies.redis.disconnect();
    return browser.get('/auth/');
  }

  const decide = async (decision: string) => {
    const browser = await app.loggedIn(user);
    const page = await browser.get(
      authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's' }),
    );
    return browser.submit(page, { decision }, '/auth/oauth2/authorize');
  };

  return [
    ['no client_id', 'client_id_missing', 'client_missing', () => ask({ client_id: undefined })],
    [
      'an unknown client_id',
      'client_id_unregistered',
      'client_unknown',
      () => ask({ client_id: 'sc_nobody' }),
    ],
    [
      'an application that the operator has disabled',
      'client_disabled',
      'client_disabled',
      async () => {
        const { clientId } = await app.client();
        await disableClients(app, clientId);
        return ask({ client_id: clientId });
      },
    ],
    [
      'an application in testing, whose owners have not invited the user',
      'client_in_testing',
      'client_testing',
      async () => {
        const { clientId } = await app.client({ stage: 'testing' });
        const query = { client_id: clientId, redirect_uri: REDIRECT_URI, state: 's' };
        return (await app.loggedIn(user)).get(authorizeAddress(query));
      },
    ],
    [
      'an API client, which has no users',
      'grant_type_unregistered',
      'request_malformed',
      async () => {
        await storeApiClient(app, 'sc_api_client');
        return ask({ client_id: 'sc_api_client' });
      },
    ],
    [
      'no redirect_uri',
      'redirect_uri_unregistered',
      'redirect_missing',
      () => ask({ redirect_uri: undefined }),
    ],
    [
      'a redirect_uri that is not registered',
      'redirect_uri_unregistered',
      'redirect_mismatch',
      () => ask({ redirect_uri: `${REDIRECT_URI}/` }),
    ],
    [
      'a client_id that is too long',
      'parameter_invalid',
      'parameter_malformed',
      () => ask({ client_id: 'x'.repeat(300) }),
    ],
    [
      'a repeated redirect_uri',
      'parameter_invalid',
      'parameter_malformed',
      () =>
        app
          .browser()
          .get(`/auth/oauth2/authorize?client_id=${client.clientId}&redirect_uri=a:b&redirect_uri=c:d`),
    ],
    [
      'a request_uri of another service',
      'request_uri_invalid',
      'request_malformed',
      () => openPushed('urn:x'),
    ],
    [
      'a request_uri that expired',
      'request_uri_invalid',
      'request_expired',
      () => openPushed(generateRequestUri()),
    ],
    [
      'a request_uri of another application',
      'request_uri_invalid',
      'request_expired',
      async () => openPushed(await pushed(await app.client(), 'nothing')),
    ],
    [
      'a pushed request that was answered',
      'request_uri_invalid',
      'request_answered',
      async () => openPushed(await pushed(client, 'answered')),
    ],
    ['an unknown language', 'locale_unsupported', 'form_incomplete', () => setLanguage('xx')],
    ['an unknown decision', 'decision_missing', 'form_incomplete', () => decide('maybe')],
    [
      'a form without its cookie',
      'cookie_missing',
      'cookie_missing',
      () => login({ Host: 'localhost:3001' }, (cookies) => cookies.clear()),
    ],
    [
      'a form with an earlier cookie',
      'csrf_token_mismatch',
      'form_outdated',
      () => login({}, (cookies) => cookies.set('oauth_service_session', 'y'.repeat(43))),
    ],
    [
      'a form from another origin',
      'origin_mismatch',
      'form_foreign',
      () => login({ Origin: 'https://evil.example' }),
    ],
    [
      'a form from another site',
      'sec_fetch_site_mismatch',
      'form_foreign',
      () => login({ 'Sec-Fetch-Site': 'cross-site' }),
    ],
    ['a full password gate', 'password_queue_full', 'busy', loginAtFullGate],
    ['an outage of Redis', null, 'unavailable', duringRedisOutage],
    ['an internal error', null, 'server_error', brokenSession],
    ['an unknown path', null, 'not_found', () => app.browser().get('/auth/nothing')],
    [
      'GET at a path that accepts only POST',
      null,
      'method_not_allowed',
      () => app.browser().get('/auth/logout'),
    ],
    [
      'a form that is too large',
      'body_too_large',
      'too_large',
      () => app.browser().post('/auth/login', { username: 'x'.repeat(70_000) }),
    ],
    [
      'a body that is not a form',
      'content_type_unsupported',
      'not_a_form',
      () => app.browser().post('/auth/login', {}, { 'Content-Type': 'application/json' }),
    ],
    [
      'a form that cannot be read',
      'form_field_repeated',
      'request_unreadable',
      () => app.browser().post('/auth/login?', { 'a[': '1', 'a[b': '2' }),
    ],
  ];
}
