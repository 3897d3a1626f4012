import { randomBytes } from 'node:crypto';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import pg from 'pg';
import { SUBJECTS } from '#messaging/contract.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { appSettings } from '#test/support/app-settings.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { blocked, until } from '#test/support/until.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { isolate, type Isolated } from '#test/support/isolate.js';

const PATIENCE_MS = 60_000;
const KEYS = randomBytes(32).toString('base64url');

let services: Isolated;
let fixture: Fixture;
let app: AppProcess;
let holder: pg.Client;
let nats: NatsConnection;

beforeAll(async () => {
  services = await isolate();
  const open = openFixture(services, KEYS);
  app = await startApp('token', {
    NODE_ENV: 'production',
    ...appSettings(services),
    TOKEN_KEYS: KEYS,
  });
  fixture = await open;
  holder = new pg.Client({ connectionString: services.databaseUrl });
  await holder.connect();
  nats = await connect(natsOptions(services.natsUrl, 'test'));
});

afterAll(async () => {
  await holder?.end();
  await nats?.close();
  await app?.stop();
  await fixture?.close();
  await services?.close();
});

// @reliability graceful-shutdown
it('the token app answers a NATS request in progress before it exits, but accepts no new requests', async () => {
  const userId = await fixture.user();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE users');
  const packet = JSON.stringify({ pattern: SUBJECTS.profile, data: { user_id: userId }, id: '1' });
  // The timeout is longer than in the fixture, because a busy machine may release the lock late.
  const reply = nats.request(SUBJECTS.profile, packet, { timeout: PATIENCE_MS });
  reply.catch(() => undefined);
  await blocked(fixture);
  process.kill(app.process.pid, 'SIGTERM');
  await until('new requests get no reply', PATIENCE_MS, () =>
    fixture.ask(SUBJECTS.introspect, { token: 'none' }).then(
      () => false,
      () => true,
    ),
  );
  await holder.query('COMMIT');
  expect((await reply).json()).toMatchObject({ response: { user: { id: userId } } });
  expect(await app.process.ended).toBe('exit code 0');
});
