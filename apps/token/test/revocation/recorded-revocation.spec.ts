import { INVALIDATIONS, SUBJECTS } from '#messaging/contract.js';
import { Introspector } from '#introspection/introspector.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { until } from '#test/support/until.js';
import { useTokenApp } from '../support/use-token-app.js';
import type { Pair } from '#test/support/tokens.js';

const app = useTokenApp();

const PATIENCE_MS = 60_000;

let connection: NatsConnection;
let api: Introspector;

beforeAll(async () => {
  connection = new NatsConnection({
    natsUrl: app.natsUrl,
    name: 'resource',
    invalidations: INVALIDATIONS,
  });
  await connection.open();
  api = new Introspector(connection, {});
});

afterAll(() => connection.close());

/** Simulates a revocation whose process died between COMMIT and Redis, or lost the response to COMMIT. */
const recordRevocation = (...ids: string[]) =>
  app.sql('UPDATE grants SET revoked_at = now() WHERE id = ANY($1)', [ids]);

const refresh = ({ refresh_token }: Pair) =>
  app.post('token', { grant_type: 'refresh_token', refresh_token, ...app.ours });

// @reliability replica-killed
it('a recorded revocation ends all tokens of the grant, including cached tokens', async () => {
  const [pair, other] = [await app.pair(), await app.pair()];
  const [id, code] = [app.grantIdOf(pair.access_token), await app.ourCode()];
  expect(await api.introspect(pair.access_token)).not.toBeNull();
  const received: unknown[] = [];
  const stop = app.hear(SUBJECTS.grantRevoked, (event) => received.push(event));
  await app.settled();

  await recordRevocation(id, app.grantIdOf(code));
  await until('both are broadcast', PATIENCE_MS, () => received.length >= 2);
  stop();
  expect(received).toContainEqual({ grant_id: id });
  // After the pong, the broadcast has arrived.
  await connection.ping();
  expect(await api.introspect(pair.access_token)).toBeNull();
  expect((await refresh(pair)).body).toMatchObject({ error: 'invalid_grant' });
  expect((await app.post('token', app.redemption(code))).body).toMatchObject({ error: 'invalid_grant' });
  expect(await api.introspect(other.access_token)).not.toBeNull();
});

it('a token whose grant PostgreSQL has lost can still be revoked (RFC 7009 2)', async () => {
  const pair = await app.pair();
  expect(await api.introspect(pair.access_token)).not.toBeNull();
  await app.sql('DELETE FROM grants WHERE id = $1', [app.grantIdOf(pair.access_token)]);
  const foreign = await app.post('revoke', { token: pair.refresh_token, ...(await app.client()) });
  expect(foreign.status).toBe(200);
  await connection.ping();
  expect(await api.introspect(pair.access_token)).not.toBeNull();

  const revoked = await app.revocation();
  expect((await app.post('revoke', { token: pair.refresh_token, ...app.ours })).status).toBe(200);
  await revoked.told;
  await connection.ping();
  expect(await api.introspect(pair.access_token)).toBeNull();
  expect((await refresh(pair)).body).toMatchObject({ error: 'invalid_grant' });
});
