import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { containersOf, workloads } from './manifests.js';
import { MONITOR, startNats } from './nats.js';
import { render } from './render.js';
import { ownSettings, ROOT } from './settings.js';

const HEALTH = ['wget', '-q', '-O', '/dev/null', `http://127.0.0.1:${MONITOR}/healthz`];

describe('the monitoring port of NATS', () => {
  let settings: Awaited<ReturnType<typeof ownSettings>>;
  let nats: Awaited<ReturnType<typeof startNats>>;
  beforeAll(async () => {
    settings = await ownSettings();
    // Clients use 127.0.0.2, because 127.0.0.1 stands for the container's own loopback address.
    nats = await startNats(settings.folder, '127.0.0.2');
  });
  afterAll(async () => {
    await nats?.service.process.stop();
    await settings?.remove();
  });

  it('is reachable only inside its container', async () => {
    const health = await fetch(`http://127.0.0.1:${nats.monitor}/healthz`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    await expect(fetch(`http://127.0.0.2:${nats.monitor}/healthz`)).rejects.toThrow('fetch failed');
  });

  it('is used by the health checks of docker-compose.yml and the local overlay', async () => {
    const compose = parse(await readFile(join(ROOT, 'docker-compose.yml'), 'utf8')) as {
      services: { nats: { healthcheck: { test: string[] } } };
    };
    expect(compose.services.nats.healthcheck.test).toEqual(['CMD', ...HEALTH]);
    const pods = workloads(await render('overlays/local'));
    const [container] = pods.filter(({ name }) => name === 'nats').flatMap(containersOf);
    expect(container?.readinessProbe?.exec?.command).toEqual(HEALTH);
    expect(container?.ports?.map(({ containerPort }) => containerPort)).toEqual([4222]);
  });
});
