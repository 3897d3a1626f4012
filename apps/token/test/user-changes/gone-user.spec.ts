import { type ApplyRevocationsReply, type IntrospectionReply, SUBJECTS } from '#messaging/contract.js';
import { useTokenApp } from '../support/use-token-app.js';
import type { Pair } from '#test/support/tokens.js';

const app = useTokenApp();

const introspect = ({ access_token: token }: Pair) =>
  app.ask<IntrospectionReply>(SUBJECTS.introspect, { token });
const refresh = ({ refresh_token }: Pair) =>
  app.post('token', { grant_type: 'refresh_token', refresh_token, ...app.ours });
const apply = (request: object) => app.ask<ApplyRevocationsReply>(SUBJECTS.applyRevocations, request);

async function connected(userId: number) {
  const code = () => app.code(app.ours.client_id, userId);
  const pair = async () => (await app.post('token', app.redemption(await code()))).body as Pair;
  return { pairs: [await pair(), await pair()] as const, code: await code() };
}

describe.each([
  ['deleted', (id: number) => app.accounts.delete(id)],
  ['disabled', (id: number) => app.accounts.disable(id)],
] as const)('a user who was %s', (_way, end) => {
  it('has no valid token or code after the revocations are applied', async () => {
    const userId = await app.user();
    const { pairs, code } = await connected(userId);
    const other = await connected(await app.user());
    for (const pair of pairs) expect(await introspect(pair)).toMatchObject({ active: true });

    await end(userId);
    expect(await apply({ user_id: userId })).toEqual({ applied: 3 });
    for (const pair of pairs) {
      expect(await introspect(pair)).toEqual({ active: false });
      expect((await refresh(pair)).body).toMatchObject({ error: 'invalid_grant' });
    }
    expect((await app.post('token', app.redemption(code))).body).toMatchObject({ error: 'invalid_grant' });
    expect(await introspect(other.pairs[0])).toMatchObject({ active: true });
    expect((await refresh(other.pairs[0])).status).toBe(200);
    // The request can be repeated if its response was lost.
    expect(await apply({ user_id: userId })).toEqual({ applied: 3 });
  });

  it('has no access after Redis has lost its data', async () => {
    const userId = await app.user();
    const { pairs, code } = await connected(userId);
    await end(userId);
    await app.redis.flushdb();
    expect(await introspect(pairs[0])).toEqual({ active: false });
    expect((await refresh(pairs[0])).body).toMatchObject({ error: 'invalid_grant' });
    expect((await refresh(pairs[1])).body).toMatchObject({ error: 'invalid_grant' });
    expect((await app.post('token', app.redemption(code))).body).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('the request to apply revocations', () => {
  it('ends only grants that are revoked in PostgreSQL', async () => {
    const userId = await app.user();
    const { pairs } = await connected(userId);
    expect(await apply({ user_id: userId })).toEqual({ applied: 0 });
    expect(await apply({ user_id: 2_000_000_000 })).toEqual({ applied: 0 });
    expect(await introspect(pairs[0])).toMatchObject({ active: true });
  });

  it('is refused unless it names one client or one user', async () => {
    const malformed = [
      {},
      { user_id: '1' },
      { user_id: 1.5 },
      { user_id: 2 ** 40 },
      { user_id: null },
      { client_id: 7 },
      { client_id: 'a\0b' },
      { client_id: '' },
      { client_id: app.ours.client_id, user_id: app.userId },
      [],
    ];
    for (const request of malformed) expect(await apply(request)).toBeUndefined();
    expect(await apply({ user_id: app.userId })).toEqual({ applied: 0 });
  });
});
