import type { Redis } from 'ioredis';
import type { Response } from 'supertest';
import { PushedRequestStore } from '#grants/pushed-request.store.js';
import { generateRequestUri, pushedRequestId } from '#oauth/pushed-request.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { type Fixture, openFixture, REDIRECT_URI, started, type TestClient } from '#test/support/fixture.js';
import { authorizeAddress, useProxiedAuthorizeApp } from './start-authorize-app.js';
import type { Browser } from '#test/support/browser.js';

export const ANSWERED = /already answered/;
export const EXPIRED = /has expired/;

export function usePushedRequests() {
  const token = started() as AppProcess;
  const fixture = started() as Fixture;
  const client = started() as TestClient;

  // This hook is registered before the app, so that its connections close before the app's services stop.
  afterAll(async () => {
    await token.stop();
    await fixture.close();
  });
  const { app, user, proxies } = useProxiedAuthorizeApp();
  beforeAll(async () => {
    const { databaseUrl, redisUrl, natsUrl } = app.services;
    const { AUTH_URL, BASE_URL, TOKEN_KEYS } = app.configuration;
    const services = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, NATS_URL: natsUrl };
    Object.assign(fixture, await openFixture(app.services, TOKEN_KEYS));
    Object.assign(token, await startApp('token', { AUTH_URL, BASE_URL, TOKEN_KEYS, ...services }));
    Object.assign(client, await fixture.client());
  });

  return {
    app,
    proxies,
    token,
    fixture,
    client,
    user,

    push: async (more: Record<string, string> = {}, by: TestClient = client): Promise<string> => {
      const defaults = { redirect_uri: REDIRECT_URI, state: 's 1&é', prompt: 'consent' };
      const answer = await fetch(`${token.url}/api/auth/oauth/par`, {
        method: 'POST',
        body: new URLSearchParams({ ...defaults, ...by, ...more }),
      });
      const { request_uri } = (await answer.json()) as { request_uri: string };
      expect(answer.status).toBe(201);
      return request_uri;
    },

    address: (request_uri: string, more: Record<string, string> = {}): string =>
      authorizeAddress({ client_id: client.client_id, request_uri, ...more }),
  };
}

export const keyOf = (requestUri: string): string => `{par}:request:${pushedRequestId(requestUri)}`;

export async function storePushed(
  redis: Redis,
  clientId: string,
  parameters: Readonly<Record<string, string>>,
): Promise<string> {
  const requestUri = generateRequestUri();
  const id = pushedRequestId(requestUri) ?? '';
  const pushed = { id, clientId, parameters: JSON.stringify(parameters), lifetime: 300 };
  await new PushedRequestStore(redis).push(pushed, []);
  return requestUri;
}

export const decide = (browser: Browser, page: Response, decision = 'allow'): Promise<Response> =>
  browser.submit(page, { decision }, '/auth/oauth2/authorize');

export function expectStartAgain(answer: Response, words: RegExp): void {
  expect(answer.status).toBe(400);
  expect(answer.headers['location']).toBeUndefined();
  expect(answer.text).toMatch(words);
  expect(answer.text).toContain('start again at the application');
  expect(answer.headers['cache-control']).toBe('no-store');
}
