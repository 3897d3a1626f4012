import request from 'supertest';
import { SUBJECTS } from '#messaging/contract.js';
import { auditEvents, undocumentedDetails } from '#test/support/audit-trail.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { useTokenApp } from './support/use-token-app.js';
import type { Pair } from '#test/support/tokens.js';

const app = useTokenApp();

const eventsOf = (reference: string, count = 1) => auditEvents(app.natsUrl, { reference }, count);
const eventsOfGrant = (grantId: string, count: number) => auditEvents(app.natsUrl, { grantId }, count);
const refresh = (pair: Pair) =>
  app.post('refreshToken', { grant_type: 'refresh_token', refresh_token: pair.refresh_token, ...app.ours });

describe('the audit trail of the token app', () => {
  it('records the issue, refresh, retry and revocation of a grant', async () => {
    const pair = await app.pair();
    await refresh(pair);
    await refresh(pair);
    await app.post('revoke', { token: pair.access_token, ...app.ours });
    const grantId = app.grantIdOf(pair.access_token);
    const events = await eventsOfGrant(grantId, 4);
    expect(events.map(({ type }) => type)).toEqual([
      'token.issued',
      'token.refreshed',
      'token.retried',
      'grant.revoked',
    ]);
    expect(events[0]).toEqual({
      version: 1,
      id: expect.stringMatching(/^[\w-]{16}-\w+$/),
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      type: 'token.issued',
      service: 'token',
      reference: expect.stringMatching(/^[\w-]{12}$/),
      client_id: app.ours.client_id,
      user_id: app.userId,
      grant_id: grantId,
      request: { method: 'POST', path: '/api/auth/oauth/token' },
      status: 200,
      detail: { generation: 1, pkce: false },
    });
  });

  it('records one event for all retries of a refresh token', async () => {
    const first = await app.pair();
    const { body } = await refresh(first);
    for (let n = 0; n < 5; n++) expect((await refresh(first)).status).toBe(200);
    const second = body as Pair;
    for (let n = 0; n < 5; n++) expect((await refresh(second)).status).toBe(200);
    await app.post('revoke', { token: second.access_token, ...app.ours });
    const events = await eventsOfGrant(app.grantIdOf(first.access_token), 6);
    expect(events.map(({ type }) => type).sort()).toEqual([
      'grant.revoked',
      'token.issued',
      'token.refreshed',
      'token.refreshed',
      'token.retried',
      'token.retried',
    ]);
  });

  it('records a refused request with the reference of its response and the failed check', async () => {
    const wrong = { ...app.redemption(await app.ourCode()), redirect_uri: 'https://app.example.com/other' };
    const { body } = await app.post('token', wrong);
    const [event] = await eventsOf((body as { error_reference: string }).error_reference);
    expect(event).toMatchObject({
      type: 'request.refused',
      client_id: app.ours.client_id,
      status: 400,
      error: 'invalid_grant',
      check: 'redirect_uri_mismatch',
      detail: { expected: REDIRECT_URI, sent: 'https://app.example.com/other' },
    });
  });

  it('records an invalid DPoP proof with the client that the request names', async () => {
    const { client_id: id, client_secret: secret } = app.ours;
    const basic = { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
    for (const [body, headers] of [
      [{ grant_type: 'refresh_token', ...app.ours }, {}],
      [{ grant_type: 'refresh_token' }, basic],
    ] as const) {
      const path = '/api/auth/oauth/token';
      const refused = await request(app.server)
        .post(path)
        .set({ DPoP: 'x', ...headers })
        .send(body);
      const [event] = await eventsOf((refused.body as { error_reference: string }).error_reference);
      expect(event).toMatchObject({ error: 'invalid_dpop_proof', client_id: id });
    }
  });

  it('records the reuse of a code as token.reuse_detected', async () => {
    const redemption = app.redemption(await app.ourCode());
    await app.post('token', redemption);
    const { body } = await app.post('token', redemption);
    const [event] = await eventsOf((body as { error_reference: string }).error_reference);
    expect(event).toMatchObject({ type: 'token.reuse_detected', check: 'code_replayed' });
  });

  it('records why a token is not active', async () => {
    const { refresh_token: token } = await app.pair();
    await app.ask(SUBJECTS.introspect, { token });
    const [event] = await auditEvents(app.natsUrl, {
      types: ['request.refused'],
      grantId: app.grantIdOf(token),
    });
    expect(event).toMatchObject({ service: 'token', error: 'invalid_token', check: 'wrong_kind' });
  });

  it('records users that the product creates, disables and deletes', async () => {
    const identity = { issuer: 'https://login.example.com', external_id: 'audited' };
    const updated_at = new Date().toISOString();
    const user = { ...identity, email: 'audited@example.com', username: 'audited', name: 'A', updated_at };
    const created = await app.ask<{ user_id: number }>(SUBJECTS.userUpsert, user);
    await app.ask(SUBJECTS.userUpsert, user);
    const changed = { ...user, name: 'Ada', time_zone: 'Europe/London' };
    await app.ask(SUBJECTS.userUpsert, { ...changed, updated_at: new Date(Date.now() + 1).toISOString() });
    const later = { ...identity, updated_at: new Date(Date.now() + 2).toISOString() };
    for (const subject of [SUBJECTS.userDisable, SUBJECTS.userDelete, SUBJECTS.userDelete])
      await app.ask(subject, later);
    const events = await auditEvents(app.natsUrl, { userId: created.user_id }, 4);
    expect(events.map(({ type }) => type)).toEqual([
      'user.created',
      'user.updated',
      'user.disabled',
      'user.deleted',
    ]);
    expect(events.map(({ changes }) => changes)).toEqual([
      undefined,
      { name: { omitted: 'personal' }, time_zone: { old: 'UTC', new: 'Europe/London' } },
      { disabled_by: { old: [], new: ['product'] } },
      undefined,
    ]);
    for (const { type, detail } of events)
      expect(detail).toEqual({ by: 'product', ...(type === 'user.disabled' && { revoked_grants: 0 }) });
  });

  // A deletion disables the user first.
  it.each([
    ['disabling', SUBJECTS.userDisable, ['user.created', 'user.disabled']],
    ['deletion', SUBJECTS.userDelete, ['user.created', 'user.disabled', 'user.deleted']],
  ])('records the %s of a user once, even if Redis fails first', async (name, subject, types) => {
    const identity = { issuer: 'https://login.example.com', external_id: name };
    const user = {
      ...identity,
      email: `${name}@example.com`,
      name: 'A',
      updated_at: new Date().toISOString(),
    };
    const { user_id: userId } = await app.ask<{ user_id: number }>(SUBJECTS.userUpsert, user);
    const redeemed = await app.post('token', app.redemption(await app.code(app.ours.client_id, userId)));
    const key = `grant:${app.grantIdOf((redeemed.body as Pair).access_token)}`;
    const change = { ...identity, updated_at: new Date(Date.now() + 1).toISOString() };
    await app.redis.set(key, 'not a hash');
    expect(await app.ask(subject, change)).toBeUndefined();
    await app.redis.del(key);
    await app.ask(subject, change);
    const events = await auditEvents(app.natsUrl, { userId }, types.length + 1);
    expect(events.map(({ type }) => type).filter((type) => type !== 'token.issued')).toEqual(types);
  });

  it('never contains a credential or an email address', async () => {
    const pair = await app.pair();
    await refresh(pair);
    await app.post('introspect', { token: pair.access_token, ...app.ours });
    await eventsOfGrant(app.grantIdOf(pair.access_token), 2);
    const text = JSON.stringify(await auditEvents(app.natsUrl, {}));
    for (const secret of [
      pair.access_token,
      pair.refresh_token,
      app.ours.client_secret,
      'audited@example.com',
    ])
      expect(text).not.toContain(secret);
  });
});

it('the audit trail of the token app contains only details that docs/audit.md describes', async () => {
  const events = await auditEvents(app.natsUrl, {}, 5);
  expect(await undocumentedDetails(events)).toEqual([]);
});
