import { randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { decodeJwt } from 'jose';
import { LOGOUT_STREAM } from '#messaging/logout/logout-queue.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { appSettings } from '#test/support/app-settings.js';
import { type Fixture, openFixture } from '#test/support/fixture.js';
import { ID_TOKEN_KEYS } from '#test/support/id-token-keys.js';
import { isolate, type Isolated } from '#test/support/isolate.js';
import { startLogoutReceiver } from '#test/support/logout-receiver.js';
import { until } from '#test/support/until.js';
import { runCommand } from '../support/run-operator.js';

let services: Isolated;
let fixture: Fixture;
let token: AppProcess;
let receiver: Awaited<ReturnType<typeof startLogoutReceiver>>;
let env: Record<string, string>;

beforeAll(async () => {
  services = await isolate();
  receiver = await startLogoutReceiver();
  env = { ...appSettings(services), TOKEN_KEYS: randomBytes(32).toString('base64url') };
  const openid = { ID_TOKEN_KEYS, OUTSIDE_FETCH_ALLOW: '127.0.0.1', LOG_LEVEL: 'fatal' };
  token = await startApp('token', { ...env, ...openid });
  fixture = await openFixture(services, env['TOKEN_KEYS'] ?? '');
});

afterAll(async () => {
  await token.stop();
  receiver.close();
  await fixture.close();
  await services.close();
});

async function loggedInUser(): Promise<{ userId: number; path: string }> {
  const [userId, session] = [await fixture.user(), randomBytes(32).toString('base64url')];
  const path = `/${session}`;
  await fixture.sessionClient(receiver.url + path, userId, session);
  return { userId, path };
}

it.each([
  ['user logout', []],
  ['user disable', []],
  ['user delete', ['--yes']],
  ['user set-password', ['--end-sessions']],
])('%s ends every session of the user at each application', async (command, options) => {
  const { userId, path } = await loggedInUser();
  const { code, stderr } = await runCommand([...command.split(' '), `id:${userId}`, ...options], env);
  expect([code, stderr]).toEqual([0, '']);
  await until('a logout token', 60_000, () => receiver.at(path).length > 0);
  const claims = decodeJwt(receiver.at(path)[0]?.token ?? '');
  expect(claims.sub).toBe(String(userId));
  expect(claims).not.toHaveProperty('sid');
});

describe('user disable without the log-out queue', () => {
  beforeAll(async () => {
    await token.stop();
    const nats = await connect(natsOptions(services.natsUrl, 'user test'));
    await (await jetstreamManager(nats)).streams.delete(LOGOUT_STREAM);
    await nats.close();
    token = await startApp('token', { ...env, LOG_LEVEL: 'fatal' });
  });

  it('warns that applications get no logout token', async () => {
    const { userId } = await loggedInUser();
    const { code, stderr } = await runCommand(['user', 'disable', `id:${userId}`], env);
    expect([code, stderr]).toEqual([0, expect.stringContaining('applications get no logout token')]);
  });

  it('does not warn about a user without sessions at applications', async () => {
    const { code, stderr } = await runCommand(['user', 'disable', `id:${await fixture.user()}`], env);
    expect([code, stderr]).toEqual([0, '']);
  });
});
