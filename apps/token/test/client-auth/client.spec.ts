import request from 'supertest';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { type ApplyRevocationsReply, type IntrospectionReply, SUBJECTS } from '#messaging/contract.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { startTokenApp, type TokenApp } from '../support/start-token-app.js';
import type { Pair } from '#test/support/tokens.js';

const thisHour = () => new Date(Date.now() - (Date.now() % 3_600_000)).toISOString();

let app: TokenApp;
let userId: number;

beforeAll(async () => {
  app = await startTokenApp();
  userId = await app.user();
});

afterAll(() => app.close());

const post = (body: object) => request(app.server).post('/api/auth/oauth/token').send(body);

async function pair(client: TestClient): Promise<Pair> {
  const code = await app.code(client.client_id, userId);
  const answer = await post({
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    ...client,
  });
  expect(answer.status).toBe(200);
  return answer.body as Pair;
}

const refresh = (client: object, refreshToken: string) =>
  post({ grant_type: 'refresh_token', refresh_token: refreshToken, ...client });

const changed = async ({ client_id }: { client_id: string }) => {
  await app.announce(SUBJECTS.clientChanged, { client_id });
  await app.settled();
};

describe('the secrets of a client', () => {
  it('are refused after their expiry', async () => {
    const client = await app.client();
    const first = await pair(client);
    const [later, past] = [generateClientSecret(), generateClientSecret()];
    const [{ id: old } = { id: '' }] = await app.secrets.list(client.client_id);
    await app.secrets.add(client.client_id, later.hash, undefined, new Date(Date.now() + 86_400_000));
    await app.secrets.revoke(client.client_id, old);
    await app.secrets.add(client.client_id, past.hash, undefined, new Date(Date.now() - 1));
    await changed(client);
    const refused = await refresh({ ...client, client_secret: past.secret }, first.refresh_token);
    expect(refused.status).toBe(401);
    expect(refused.body).toMatchObject({
      error: 'invalid_client',
      error_description: 'the client_secret has expired',
    });
    const accepted = await refresh({ ...client, client_secret: later.secret }, first.refresh_token);
    expect(accepted.status).toBe(200);
  });

  it('authenticate the client until they are revoked', async () => {
    const client = await app.client();
    const { secret, hash } = generateClientSecret();
    const added = await app.secrets.add(client.client_id, hash);
    await changed(client);
    const first = await pair(client);
    const second = await refresh({ ...client, client_secret: secret }, first.refresh_token);
    expect(second.status).toBe(200);
    const old = added[0]?.id ?? '';
    await app.secrets.revoke(client.client_id, old);
    await changed(client);
    const refused = await refresh(client, (second.body as Pair).refresh_token);
    expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client']);
    const after = await refresh({ ...client, client_secret: secret }, (second.body as Pair).refresh_token);
    expect(after.status).toBe(200);
  });

  it('have separate times of last use', async () => {
    const client = await app.client();
    await app.secrets.add(client.client_id, generateClientSecret().hash);
    await changed(client);
    const uses = async () => {
      await app.writeUses();
      const listed = await app.secrets.list(client.client_id);
      return listed.map(({ lastUsedAt }) => lastUsedAt?.toISOString() ?? null);
    };
    expect((await refresh({ ...client, client_secret: 'scs_wrong' }, 'srt_x')).status).toBe(401);
    expect(await uses()).toEqual([null, null]);
    const before = thisHour();
    const { refresh_token } = await pair(client);
    await refresh(client, refresh_token);
    // The hour may have changed during the test.
    expect([
      [before, null],
      [thisHour(), null],
    ]).toContainEqual(await uses());
  });

  it('have their last use recorded after an outage of PostgreSQL', async () => {
    const client = await app.client();
    const before = thisHour();
    await pair(client);
    await app.sql('ALTER TABLE client_secrets RENAME TO away');
    await app.writeUses();
    await app.sql('ALTER TABLE away RENAME TO client_secrets');
    await app.writeUses();
    const listed = await app.secrets.list(client.client_id);
    const hours = listed.map(({ lastUsedAt }) => lastUsedAt?.toISOString() ?? null);
    // The hour may have changed during the test.
    expect([[before], [thisHour()]]).toContainEqual(hours);
  });

  it('can all be revoked with force, so that the client cannot authenticate', async () => {
    const client = await app.client();
    const [only] = await app.secrets.list(client.client_id);
    await app.secrets.revoke(client.client_id, only?.id ?? '', true);
    await changed(client);
    for (const credentials of [client, { client_id: client.client_id }]) {
      expect((await refresh(credentials, 'srt_x')).body.error).toBe('invalid_client');
    }
    const empty = await request(app.server)
      .post('/api/auth/oauth/token')
      .auth(client.client_id, '')
      .send({ grant_type: 'refresh_token', refresh_token: 'srt_x' });
    expect([empty.status, empty.body.error]).toEqual([401, 'invalid_client']);
  });
});

describe('a public client', () => {
  // @rfc 6749 10.1 @rfc 8252 8.5
  it('may send no secret or an empty secret, but no other secret (RFC 6749 2.1)', async () => {
    const { client_id } = await app.publicClient('com.example.app:/callback');
    const body = { grant_type: 'refresh_token', refresh_token: 'srt_x' };
    const basic = (secret: string) =>
      request(app.server).post('/api/auth/oauth/token').auth(client_id, secret).send(body);
    expect((await refresh({ client_id }, 'srt_x')).body.error).toBe('invalid_grant');
    expect((await refresh({ client_id, client_secret: '' }, 'srt_x')).body.error).toBe('invalid_grant');
    expect((await basic('')).body.error).toBe('invalid_grant');
    expect((await basic('guess')).body.error).toBe('invalid_client');
    expect((await refresh({ client_id, client_secret: 'x' }, 'srt_x')).body.error).toBe('invalid_client');
  });
});

describe('a deleted client', () => {
  const introspect = (token: string) => app.ask<IntrospectionReply>(SUBJECTS.introspect, { token });
  const applyRevocations = (client_id: string) =>
    app.ask<ApplyRevocationsReply>(SUBJECTS.applyRevocations, { client_id });

  it('cannot refresh tokens, and its access tokens become inactive', async () => {
    const client = await app.client();
    const other = await pair(await app.client());
    const pairs = [await pair(client), await pair(client)];
    const code = await app.code(client.client_id, userId);
    for (const { access_token } of pairs)
      expect(await introspect(access_token)).toMatchObject({ active: true });

    const heard = new Set<string>();
    const stop = app.hear(SUBJECTS.grantRevoked, (event) => heard.add(JSON.stringify(event)));
    await app.registrations.delete(client.client_id);
    await changed(client);
    for (const { refresh_token } of pairs)
      expect((await refresh(client, refresh_token)).body.error).toBe('invalid_client');
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...client };
    expect((await post(exchange)).body.error).toBe('invalid_client');

    expect(await applyRevocations(client.client_id)).toEqual({ applied: 3 });
    await app.settled();
    stop();
    // The reconciler may repeat some broadcasts.
    expect(heard.size).toBe(3);
    for (const { access_token } of pairs) expect(await introspect(access_token)).toEqual({ active: false });
    expect(await introspect(other.access_token)).toMatchObject({ active: true });
  });

  it('has no active token after Redis has lost its data', async () => {
    const client = await app.client();
    const { access_token } = await pair(client);
    await app.registrations.delete(client.client_id);
    await app.redis.flushdb();
    expect(await introspect(access_token)).toEqual({ active: false });
  });

  it('cannot be simulated by a request to apply revocations', async () => {
    const client = await app.client();
    const { access_token } = await pair(client);
    expect(await applyRevocations(client.client_id)).toEqual({ applied: 0 });
    expect(await applyRevocations('sc_unknown')).toEqual({ applied: 0 });
    expect(await introspect(access_token)).toMatchObject({ active: true });
  });
});
