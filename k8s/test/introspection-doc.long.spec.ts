import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { parse } from 'yaml';
import { INVALIDATIONS, parseReply, SUBJECTS } from '#messaging/contract.js';
import { Introspector } from '#introspection/introspector.js';
import { NatsConnection, natsOptions } from '#messaging/nats.connection.js';
import { appSettings } from '#test/support/app-settings.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { type BackingService, startConfigured } from '#local/servers/started-service.js';
import { debianServer } from '#local/servers/debian-package.js';
import { findServers, machineLookup } from '#local/servers/find-server.js';
import { type Fixture, openFixture, REDIRECT_URI } from '#test/support/fixture.js';
import { type Isolated, isolate } from '#test/support/isolate.js';
import { until } from '#test/support/until.js';
import { ROOT } from './settings.js';

const text = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');
const USERS = [
  'authorize',
  'token',
  'resource',
  'console',
  'developers',
  'operator',
  'product',
  'migrate',
  'bookings',
];

/** Starts NATS as in a development installation, and adds the user from the document. */
async function startDocumented(): Promise<BackingService> {
  const [user = ''] =
    /^ {4}\{\n {6}user: bookings\n.*?^ {4}\}\n/ms.exec(await text('docs/introspection.md')) ?? [];
  const conf = await text('k8s/overlays/local/nats/nats.conf');
  const users = conf.slice(conf.indexOf('accounts {')).replace('users: [\n', `users: [\n${user}`);
  return startConfigured(
    {
      name: 'NATS',
      program: 'nats-server',
      role: 'nats',
      configuration: ({ port, password, folder }) =>
        `jetstream { store_dir: ${JSON.stringify(folder)} }\n${USERS.map((name) => `${name}_password: "${password}"\n`).join('')}host: "127.0.0.1"\nport: ${port}\n${users}`,
      arguments: (file) => ['-c', file],
      url: ({ port, password }) => `nats://bookings:${password}@127.0.0.1:${port}`,
      connect: async (url) => {
        const options = { timeout: 2_000, waitOnFirstConnect: false, reconnect: false };
        await (await connect({ ...natsOptions(url, 'look'), ...options })).close();
      },
    },
    {
      directory: join(ROOT, '.local'),
      persistent: false,
      find: async (server, folder) => {
        const found = await findServers(server, machineLookup(process.env));
        const options = { user: undefined, env: process.env, progress: () => undefined };
        return found.length > 0 ? found : [await debianServer(server, folder, options)];
      },
    },
  );
}

describe('the NATS user for a service in docs/introspection.md', () => {
  let services: Isolated;
  let nats: BackingService;
  let token: AppProcess;
  let fixture: Fixture;
  let connection: NatsConnection;

  beforeAll(async () => {
    [services, nats] = await Promise.all([isolate(), startDocumented()]);
    const TOKEN_KEYS = randomBytes(32).toString('base64url');
    token = await startApp('token', {
      ...appSettings(services),
      NATS_URL: nats.url.replace('bookings', 'token'),
      TOKEN_KEYS,
    });
    fixture = await openFixture(services, TOKEN_KEYS);
    connection = new NatsConnection({
      natsUrl: nats.url,
      name: 'bookings',
      invalidations: INVALIDATIONS,
    });
    await connection.open();
  });
  afterAll(async () => {
    await connection?.close();
    await fixture?.close();
    await token?.stop();
    await nats?.process.stop();
    await services?.close();
  });

  it('may introspect tokens and receive revocations', async () => {
    const client = await fixture.client();
    const send = (path: string, body: object) =>
      fetch(`${token.url}/api/auth/oauth/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...client, ...body }),
      });
    const code = await fixture.code(client.client_id, await fixture.user());
    const answer = await send('token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
    });
    const { access_token } = (await answer.json()) as { access_token: string };
    const introspector = new Introspector(connection, {});
    expect(await introspector.introspect(access_token)).toMatchObject({ clientId: client.client_id });
    expect((await send('revoke', { token: access_token })).status).toBe(200);
    // Without the broadcast, the token would be accepted for 30 s.
    for (let attempts = 0; await introspector.introspect(access_token); attempts += 1) {
      expect(attempts).toBeLessThan(100);
      await introspector.introspect(`sat_${randomBytes(63).toString('base64url')}`);
    }
    const consumed = {
      jkt: 'k'.repeat(43),
      jti: randomBytes(9).toString('base64url'),
      expires_at: Date.now() + 60_000,
    };
    const reply = await connection.request(SUBJECTS.consumeProof, consumed, parseReply.consumeProof);
    expect(reply).toMatchObject({ outcome: 'consumed' });
  });

  it('cannot publish or subscribe to other subjects', async () => {
    const nobody = await connect(natsOptions(nats.url, 'bookings'));
    const refused: string[] = [];
    void (async () => {
      for await (const status of nobody.status())
        if (status.type === 'error') refused.push(/"([^"]+)"/.exec(status.error.message)?.[1] ?? '');
    })();
    const others = [SUBJECTS.profile, SUBJECTS.applyRevocations, SUBJECTS.grantRevoked, '_INBOX.resource.1'];
    for (const subject of others) nobody.publish(subject);
    const forbidden = [SUBJECTS.introspect, SUBJECTS.applyRevocations, '_INBOX.resource.>', '>'];
    for (const subject of forbidden) nobody.subscribe(subject);
    await until('all of it is refused', 60_000, () => refused.length >= 8);
    await nobody.close();
    expect(refused.sort()).toEqual([...others, ...forbidden].sort());
  });
});

describe('the deployment of a service in docs/introspection.md', () => {
  it('matches the manifests of resource', async () => {
    const doc = await text('docs/introspection.md');
    const deployment = await text('k8s/base/resource/deployment.yaml');
    expect(doc).toContain('args: [dist/main.js]');
    expect(deployment).toContain('args: [dist/apps/resource.cjs]');
    expect(doc).toContain('app.kubernetes.io/name: bookings');
    expect(deployment).toContain('app.kubernetes.io/name: resource');
    expect(deployment).toContain("reaches-nats: 'true'");
    expect(doc).toContain("`reaches-nats: 'true'`");
    expect(deployment).toMatch(/name: nats-resource\n +key: NATS_URL\n/);
    expect(doc).toContain('from the key `NATS_URL` of a Secret `nats-bookings`');
    expect(await text('k8s/overlays/local/settings.sh')).toMatch(
      /^ +for process in authorize token resource console developers operator product migrate; do\n +secret nats-\$process Opaque \$process\/nats\.env$/m,
    );
    expect(doc).toMatch(/added to the list of processes in its `settings\.sh`/);
    expect(await text('k8s/base/network.yaml')).toMatch(/values: \[.*resource/);
    const lists = (await text('deploy/settings.sh')).match(/^for process in authorize token resource.*$/gm);
    expect(lists).toHaveLength(2);
  });

  it('matches the compose service of resource except for the name and the image', async () => {
    const [, block = ''] = /```yaml\n(bookings:.*?)```/s.exec(await text('docs/introspection.md')) ?? [];
    const { bookings } = parse(block) as { bookings: object };
    const compose = await text('docker-compose.yml');
    const { resource, setup } = (
      parse(compose, { merge: true }) as { services: Record<'resource' | 'setup', Record<string, unknown>> }
    ).services;
    const renamed = JSON.stringify(bookings)
      .replaceAll('bookings', 'resource')
      .replace('dist/main.js', 'dist/apps/resource.cjs');
    const named = JSON.parse(renamed) as Record<string, unknown>;
    // The service does not read the scopes file.
    const volumes = (resource['volumes'] as string[]).filter((volume) => !volume.includes('scopes.yaml'));
    const { command, networks, depends_on } = resource;
    expect(named).toMatchObject({ command, networks, volumes, depends_on });
    expect(setup['volumes']).toContain('settings-resource:/settings/resource');
  });
});
