import { randomBytes } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { KeyRing } from '#grants/key-ring.js';
import { SUBJECTS } from '#introspection/contract.js';
import { natsOptions } from '#platform/nats/nats.connection.js';
import type { ServiceStatus } from '#platform/status/service-status.js';
import { type AppProcess, startApp } from '#testing/app-process.js';
import { appSettings } from '#testing/app-settings.js';
import { type Isolated, isolate } from '#testing/isolate.js';
import { until } from '#testing/topology/until.js';
import { runningServices } from '../src/connections/status.connection.js';

const TOKEN_KEYS = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64url')).join(',');

let services: Isolated;
const apps: AppProcess[] = [];

beforeAll(async () => {
  services = await isolate();
  const env = { ...appSettings(services), LOG_LEVEL: 'warn', API_URL: 'https://api.example.com', TOKEN_KEYS };
  const names = ['token', 'token', 'authorize', 'resource'] as const;
  await Promise.all(names.map(async (name) => apps.push(await startApp(name, env))));
});

afterAll(async () => {
  await Promise.all(apps.map((app) => app.stop()));
  await services.close();
});

/** The answers of all four processes: a busy one may miss a round. */
async function answers(): Promise<ServiceStatus[]> {
  let all: ServiceStatus[] = [];
  await until('every process answers', 60_000, async () => {
    all = await runningServices(services.natsUrl);
    return all.length === apps.length;
  });
  return all;
}

describe('the status of the running processes', () => {
  it('comes from every process of every app, sorted', async () => {
    const all = await answers();
    expect(all.map(({ service }) => service)).toEqual(['authorize', 'resource', 'token', 'token']);
    expect(new Set(all.map(({ instance }) => Number(instance.split(':').at(-1))))).toEqual(
      new Set(apps.map(({ pid }) => pid)),
    );
    for (const { version, started_at, time } of all) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(Date.parse(time)).toBeGreaterThan(Date.parse(started_at));
    }
  });

  it('has the keys by id and role, settings that must agree, and the state of Redis, each where the process has it', async () => {
    const all = await answers();
    const keys = KeyRing.parse(TOKEN_KEYS).keys;
    expect(keys.map(({ role }) => role)).toEqual(['signing', 'verifying']);
    for (const { service, ...status } of all) {
      expect(status.settings).toMatchObject({
        BASE_URL: 'https://base.example.com',
        API_URL: 'https://api.example.com',
        SCOPES_FILE: expect.stringMatching(/^sha256 [0-9a-f]{64}$/),
      });
      if (service === 'resource') {
        expect(status).not.toHaveProperty('keys');
        expect(status).not.toHaveProperty('redis');
      } else {
        expect(status.keys).toEqual(keys);
        expect(status.redis).toMatchObject({
          role: 'master',
          appendonly: expect.stringMatching(/^(yes|no)$/),
        });
      }
    }
  });

  it('holds no key, password or other secret', async () => {
    const said = JSON.stringify(await answers());
    for (const key of TOKEN_KEYS.split(',')) expect(said).not.toContain(key);
    for (const url of [services.databaseUrl, services.redisUrl, services.natsUrl]) {
      expect(said).not.toContain(url);
      const { password } = new URL(url);
      if (password !== '') expect(said).not.toContain(password);
    }
  });

  it('goes to inboxes only, whatever reply subject a request names', async () => {
    const nats = await connect(natsOptions(services.natsUrl, 'test'));
    try {
      const heard: string[] = [];
      nats.subscribe('oauth.>', { callback: (_error, { subject }) => void heard.push(subject) });
      nats.publish(SUBJECTS.serviceStatus, '{}', { reply: SUBJECTS.clientChanged });
      await answers();
      await nats.flush();
      expect(new Set(heard)).toEqual(new Set([SUBJECTS.serviceStatus]));
    } finally {
      await nats.close();
    }
  });
});
