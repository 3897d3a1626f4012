import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { createService, type Service } from '#platform/bootstrap/service.js';
import { Readiness } from '#platform/health/readiness.js';
import { logContext } from '#platform/logging/request-log.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { appSettings, PATIENT } from '../support/app-settings.js';
import { isolate, type Isolated } from '../support/isolate.js';
import { openFixture, REDIRECT_URI } from '../support/fixture.js';
import { authorizeApp } from '../../apps/authorize/src/app.module.js';
import { AuthorizeConfiguration } from '../../apps/authorize/src/configuration/authorize.configuration.js';
import { resourceApp } from '../../apps/resource/src/app.module.js';
import { ResourceConfiguration } from '../../apps/resource/src/resource.configuration.js';
import { tokenApp } from '../../apps/token/src/app.module.js';
import { TokenConfiguration } from '../../apps/token/src/token.configuration.js';

const TOKEN_KEYS = randomBytes(32).toString('base64url');

let services: Isolated;
const apps = new Map<string, App>();

interface App {
  readonly url: string;
  readonly metrics: Metrics;
  readonly logged: Readonly<Record<string, unknown>>[];
  overloaded: boolean;
  close(): Promise<void>;
}

beforeAll(async () => {
  services = await isolate();
  const settings = {
    ...appSettings(services),
    API_URL: 'https://api.example.com',
    TOKEN_KEYS,
    LOG_LEVEL: 'silent',
    ...PATIENT,
  };
  apps.set('token', await start(tokenApp(Object.assign(new TokenConfiguration(), settings))));
  apps.set('resource', await start(resourceApp(Object.assign(new ResourceConfiguration(), settings))));
  apps.set('authorize', await start(authorizeApp(Object.assign(new AuthorizeConfiguration(), settings))));
});

afterAll(async () => {
  for (const app of apps.values()) await app.close();
  await services.close();
});

async function start(service: Service): Promise<App> {
  const metrics = new Metrics();
  const delay = { check: () => undefined, isOverloaded: () => app.overloaded };
  const nest: NestFastifyApplication = await createService(service, {
    readiness: new Readiness(),
    metrics,
    delay,
  });
  const { server }: FastifyInstance = nest.getHttpAdapter().getInstance();
  const app = {
    url: '',
    metrics,
    logged: [] as Readonly<Record<string, unknown>>[],
    overloaded: false,
    close: () => nest.close(),
  };
  server.prependListener('request', (request, response) => {
    response.on('finish', () => app.logged.push(logContext(request)));
  });
  await nest.listen(0, '127.0.0.1');
  app.url = await nest.getUrl();
  return app;
}

function appOf(name: string): App {
  const app = apps.get(name);
  if (!app) throw new Error(`there is no app ${name}`);
  return app;
}

async function whileOverloaded<Result>(app: App, work: () => Promise<Result>): Promise<Result> {
  app.overloaded = true;
  try {
    return await work();
  } finally {
    app.overloaded = false;
  }
}

async function transitionsOf({ metrics }: App): Promise<Record<string, number>> {
  const counter = await metrics.registry.getSingleMetric('oauth_grant_transitions_total')?.get();
  return Object.fromEntries(counter?.values.map(({ labels, value }) => [labels['transition'], value]) ?? []);
}

const namesOf = ({ headers }: Response) => [...headers.keys()].filter((name) => name !== 'vary');

describe.each([
  ['token', ENDPOINTS.authorizationServerMetadata],
  ['resource', ENDPOINTS.protectedResourceMetadata],
  ['authorize', ENDPOINTS.account],
])('the overloaded %s app', (name, path) => {
  it('rejects requests with 503, Retry-After and the usual headers until it recovers', async () => {
    const app = appOf(name);
    const headers = { origin: 'https://spa.example.com' };
    const refused = await whileOverloaded(app, () => fetch(app.url + path, { headers }));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    const served = await fetch(app.url + path, { headers, redirect: 'manual' });
    expect(served.status).toBeLessThan(400);
    const own = ['retry-after', 'content-type', 'content-length', 'content-language', 'link'];
    const required = namesOf(served).filter((header) => !['location', 'set-cookie', ...own].includes(header));
    expect(namesOf(refused)).toEqual(expect.arrayContaining(required));
  });

  it('counts and logs a rejected request', async () => {
    const app = appOf(name);
    const counted = async () =>
      (await app.metrics.registry.getSingleMetric('oauth_overload_refusals_total')?.get())?.values[0]
        ?.value ?? 0;
    const [before, lines] = [await counted(), app.logged.length];
    await whileOverloaded(app, () => fetch(app.url + path));
    while (app.logged.length === lines) await sleep(5);
    expect((await counted()) - before).toBe(1);
    expect(app.logged.slice(lines)).toEqual([
      expect.objectContaining({ error: 'temporarily_unavailable', check: 'event_loop_delayed' }),
    ]);
  });
});

it('the overloaded token app responds in the format of RFC 6749 5.2', async () => {
  const app = appOf('token');
  const refused = await whileOverloaded(app, () => fetch(app.url + ENDPOINTS.token, { method: 'POST' }));
  expect(await refused.json()).toEqual({
    error: 'temporarily_unavailable',
    error_description: expect.any(String),
    error_uri: expect.stringMatching(/\/errors#temporarily_unavailable$/),
    error_reference: expect.stringMatching(/^[\w-]{12}$/),
  });
});

it('the overloaded resource app responds in the format of the API', async () => {
  const app = appOf('resource');
  const refused = await whileOverloaded(app, () => fetch(`${app.url}${ENDPOINTS.me}?a=b`));
  expect(await refused.json()).toEqual({
    status: 'error',
    timestamp: expect.any(String),
    path: ENDPOINTS.me,
    error: { code: 'SERVICE_UNAVAILABLE', message: expect.any(String) },
  });
});

it('the overloaded authorize app responds with a page that offers a retry', async () => {
  const app = appOf('authorize');
  const refused = await whileOverloaded(app, () => fetch(`${app.url}${ENDPOINTS.account}`));
  expect(refused.headers.get('content-type')).toContain('text/html');
  expect(await refused.text()).toMatch(/<h1>Our service is temporarily unavailable[\s\S]*>Try again</);
});

// The app rejects the refresh without reading its body, and the connection stays usable.
// @reliability overload
it('a refresh rejected because of overload changes nothing', async () => {
  const app = appOf('token');
  const fixture = await openFixture(services, TOKEN_KEYS);
  const client = await fixture.client();
  const ask = async (form: Record<string, string>) => {
    const body = new URLSearchParams({ ...client, ...form });
    const answer = await fetch(app.url + ENDPOINTS.token, { method: 'POST', body });
    return { status: answer.status, body: (await answer.json()) as { refresh_token: string } };
  };
  const code = await fixture.code(client.client_id, await fixture.user());
  const first = await ask({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
  const { refresh_token } = first.body;
  const state = () => fixture.redis.hgetall(`grant:${fixture.grantIdOf(refresh_token)}`);
  const before = await state();
  const refresh = () => ask({ grant_type: 'refresh_token', refresh_token });
  const refused = await whileOverloaded(app, () => Promise.all(Array.from({ length: 20 }, refresh)));
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 503));
  expect(before).not.toEqual({});
  expect(await state()).toEqual(before);
  expect((await refresh()).status).toBe(200);
  // If the rejected request had been executed after its response, this refresh would be counted as a retry.
  expect(await transitionsOf(app)).toMatchObject({ refreshed: 1, retried: 0 });
  await fixture.close();
});
