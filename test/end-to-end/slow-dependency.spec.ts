import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppProcess, startApp } from '../support/app-process.js';
import { appSettings } from '../support/app-settings.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { isolate, type Isolated } from '../support/isolate.js';
import { until } from '../support/until.js';

let services: Isolated;
const proxies: FaultProxy[] = [];
const apps: AppProcess[] = [];

beforeAll(async () => {
  services = await isolate();
  const { redisUrl, databaseUrl, natsUrl } = services;
  for (const url of [redisUrl, databaseUrl, natsUrl]) proxies.push(await FaultProxy.start(url));
  const [redis, postgres, nats] = proxies;
  const env = {
    ...appSettings(services),
    API_URL: 'https://api.example.com',
    TOKEN_KEYS: randomBytes(32).toString('base64url'),
    LOG_LEVEL: 'warn',
  };
  const output = (): { onOutput: (text: string) => void } => ({ onOutput: (text) => lines.push(text) });
  apps.push(
    await startApp(
      'token',
      { ...env, REDIS_URL: redis?.url ?? '', DATABASE_URL: postgres?.url ?? '' },
      output(),
    ),
    await startApp('resource', { ...env, NATS_URL: nats?.url ?? '' }, output()),
  );
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.stop()));
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await services.close();
});

const lines: string[] = [];
const slowLines = (dependency: string) =>
  lines
    .join('')
    .split('\n')
    .filter((line) => line.includes('answered slowly'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['dependency'] === dependency);

it.each([
  ['redis', 0, () => fetch(`${apps[0]?.internalUrl}/readyz`), { operation: 'PING' }],
  ['postgresql', 1, () => fetch(`${apps[0]?.internalUrl}/readyz`), { operation: 'SELECT' }],
  [
    'nats',
    2,
    () =>
      fetch(`${apps[1]?.url}/v2/me`, {
        headers: { authorization: `Bearer sat_${randomBytes(63).toString('base64url')}` },
      }),
    { operation: 'request', target: 'oauth.token.introspect' },
  ],
] as const)('a slow answer of %s leaves one log line a minute', async (dependency, at, call, detail) => {
  const proxy = proxies[at];
  for (const _ of ['first', 'second']) {
    proxy?.hold();
    const answered = call();
    await sleep(800);
    proxy?.release();
    await (await answered).text();
  }
  await until(`a slow call of ${dependency} is logged`, 30_000, async () => slowLines(dependency).length > 0);
  await sleep(200);
  expect(slowLines(dependency)).toEqual([
    expect.objectContaining({ level: 40, duration_ms: expect.any(Number), ...detail }),
  ]);
  expect(Number(slowLines(dependency)[0]?.['duration_ms'])).toBeGreaterThan(500);
});
