import { randomBytes } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import { LogoutStore } from '#events/logout.store.js';
import { SUBJECTS } from '#messaging/contract.js';
import { generateClientSecret } from '#oauth/oauth-client.js';
import { sessionIdFor, subjectOf } from '#oauth/openid/id-token.js';
import { createService } from '#platform/bootstrap/service.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { ID_TOKEN_KEYS, SIGNING_KEYS } from '#test/support/keys.js';
import { startLogoutReceiver } from '#test/support/logout-receiver.js';
import { until } from '#test/support/until.js';
import { tokenApp } from '../../src/app.module.js';
import { TokenConfiguration } from '../../src/token.configuration.js';
import { useTokenApp } from '../support/use-token-app.js';

let configuration: TokenConfiguration;
const app = useTokenApp({ ID_TOKEN_KEYS, OUTSIDE_FETCH_ALLOW: '127.0.0.1' });
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const WITHIN_MS = 60_000;

let receiver: Awaited<ReturnType<typeof startLogoutReceiver>>;

beforeAll(async () => {
  receiver = await startLogoutReceiver();
});

afterAll(() => receiver.close());

const newSession = (): string => randomBytes(32).toString('base64url');

async function clientOf(
  session: string | null,
  {
    path = `/${randomBytes(6).toString('hex')}`,
    scope = 'openid',
    userId = app.userId,
    authTime = 1_700_000_000,
    ...more
  }: { path?: string | null; scope?: string; userId?: number; authTime?: number; sector?: string } = {},
) {
  const { secret, hash: secretHash } = generateClientSecret();
  const client = await app.clients.create({
    secretHash,
    name: 'Calendar Connect',
    type: 'confidential',
    scopes: ['profile:read', 'openid'],
    redirectUris: ['https://app.example.com/cb'],
    postLogoutRedirectUris: [],
    backchannelLogoutUri: path === null ? null : receiver.url + path,
    ...more,
  });
  const login = session === null ? {} : { login: { authTime, session } };
  const code = await app.code(client.clientId, userId, { scope, ...login });
  return { ...client, secret, code, path: path ?? '' };
}

const endSession = (session: string) => app.store(LogoutStore).sessionEnded(session);
const endUser = (userId: number) => app.accounts.endSessions(userId);

const receivedAt = (path: string, count = 1) =>
  until(`${count} logout tokens at ${path}`, WITHIN_MS, () => receiver.at(path).length >= count);

async function settled(): Promise<void> {
  const session = newSession();
  const last = await clientOf(session);
  await endSession(session);
  await receivedAt(last.path);
}

describe('a logout token', () => {
  // @back-channel logout 2.4 @back-channel logout 2.5
  it('names the client, the user and the session, and is signed like an ID token', async () => {
    const session = newSession();
    const client = await clientOf(session);
    await endSession(session);
    await receivedAt(client.path);
    const [logout] = receiver.at(client.path);
    expect(logout?.type).toBe('application/x-www-form-urlencoded');
    const { payload, protectedHeader } = await jwtVerify(
      logout?.token ?? '',
      createLocalJWKSet(SIGNING_KEYS.jwks as JSONWebKeySet),
      { issuer: 'https://base.example.com', audience: client.clientId, typ: 'logout+jwt' },
    );
    expect(protectedHeader.alg).toBe('RS256');
    expect(payload).toEqual({
      iss: 'https://base.example.com',
      sub: String(app.userId),
      aud: client.clientId,
      iat: expect.any(Number),
      exp: Number(payload.iat) + 120,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      events: { [EVENT]: {} },
      sid: sessionIdFor(client.clientId, session),
    });
  });

  it('has a sid that differs between clients, and the pairwise subject of the client', async () => {
    const session = newSession();
    const one = await clientOf(session);
    const two = await clientOf(session, { sector: 'app.example.com' });
    await endSession(session);
    await Promise.all([receivedAt(one.path), receivedAt(two.path)]);
    const [ofOne, ofTwo] = [one, two].map(({ path }) => decodeJwt(receiver.at(path)[0]?.token ?? ''));
    expect(ofOne?.['sid']).not.toBe(ofTwo?.['sid']);
    expect(ofTwo?.sub).toBe(subjectOf(two, app.userId));
    expect(ofTwo?.sub).not.toBe(ofOne?.sub);
    expect(ofOne?.jti).not.toBe(ofTwo?.jti);
  });

  it('is sent only to enabled clients with a log-out URI and an ID token of this session', async () => {
    const session = newSession();
    const [other, stranger] = [newSession(), await app.user()];
    const informed = await clientOf(session);
    const disabled = await clientOf(session);
    await app.registrations.setDisabled(disabled.clientId, true);
    const silent = [
      await clientOf(session, { scope: 'profile:read' }),
      await clientOf(other),
      await clientOf(null),
      await clientOf(newSession(), { userId: stranger }),
      disabled,
    ];
    await clientOf(session, { path: null });
    const before = receiver.received.length;
    await endSession(session);
    await receivedAt(informed.path);
    await settled();
    for (const { path } of silent) expect(receiver.at(path)).toEqual([]);
    expect(receiver.received).toHaveLength(before + 2);
  });

  // @back-channel logout 2.4
  it('has no sid if every session of the user has ended', async () => {
    const userId = await app.user();
    const client = await clientOf(newSession(), { userId });
    await endUser(userId);
    await receivedAt(client.path);
    const claims = decodeJwt(receiver.at(client.path)[0]?.token ?? '');
    expect(claims.sub).toBe(String(userId));
    expect(claims).not.toHaveProperty('sid');
  });

  it.each([
    ['disables', SUBJECTS.userDisable],
    ['deletes', SUBJECTS.userDelete],
  ])('is sent when the product %s a user', async (_what, subject) => {
    const externalId = randomBytes(6).toString('hex');
    const userId = await app.user(externalId);
    const [row] = (await app.sql('SELECT issuer FROM users WHERE id = $1', [userId])) as { issuer: string }[];
    const client = await clientOf(newSession(), { userId });
    const identity = { issuer: row?.issuer, external_id: externalId, updated_at: new Date().toISOString() };
    await app.ask(subject, identity);
    await receivedAt(client.path);
    expect(decodeJwt(receiver.at(client.path)[0]?.token ?? '').sub).toBe(String(userId));
  });
});

describe('a code for an ID token', () => {
  const redeem = ({ code, clientId, secret }: { code: string; clientId: string; secret: string }) =>
    app.post('token', { ...app.redemption(code), client_id: clientId, client_secret: secret });

  it.each([
    ['a session', (session: string) => endSession(session)],
    ['every session of the user', (_session: string, userId: number) => endUser(userId)],
  ])('is refused after the end of %s', async (_what, end) => {
    const session = newSession();
    const userId = await app.user();
    const client = await clientOf(session, { userId });
    await end(session, userId);
    await receivedAt(client.path);
    const answer = await redeem(client);
    expect([answer.status, answer.body]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
  });

  it.each([
    ['a session', (session: string) => endSession(session)],
    ['every session of the user', (_session: string, userId: number) => endUser(userId)],
  ])('is refused after the end of %s, also if the client receives no logout tokens', async (_what, end) => {
    const session = newSession();
    const userId = await app.user();
    const client = await clientOf(session, { userId, path: null });
    await end(session, userId);
    await until(
      'void codes',
      WITHIN_MS,
      async () => (await app.sql('SELECT FROM ended_sessions')).length === 0,
    );
    const answer = await redeem(client);
    expect([answer.status, answer.body]).toEqual([400, expect.objectContaining({ error: 'invalid_grant' })]);
  });

  /** In one transaction, so that no process sends the tokens before. */
  const endUserBefore = (userId: number, secondsAgo: number) =>
    app.sql(
      `BEGIN;
       UPDATE users SET session_generation = session_generation + 1 WHERE id = ${userId};
       UPDATE events SET created_at = now() - interval '${secondsAgo} s' WHERE user_id = ${userId};
       UPDATE ended_sessions SET ended_at = now() - interval '${secondsAgo} s' WHERE user_id = ${userId};
       COMMIT`,
    );

  it.each([
    { login: 'a new login', endedAgo: 2, loggedInAgo: 0 },
    { login: 'an earlier login at a provider', endedAgo: 60, loggedInAgo: 3600 },
  ])(
    'is accepted in a new session with $login, if the logout token of all earlier sessions is sent late',
    async ({ endedAgo, loggedInAgo }) => {
      const userId = await app.user();
      const authTime = Math.floor(Date.now() / 1000) - loggedInAgo;
      const client = await clientOf(newSession(), { userId, authTime });
      await endUserBefore(userId, endedAgo);
      await receivedAt(client.path);
      expect((await redeem(client)).status).toBe(200);
    },
  );

  it('is refused even if its grant was stored while every session was being ended', async () => {
    const userId = await app.user();
    const client = await clientOf(newSession(), { userId });
    await endUserBefore(userId, 2);
    await receivedAt(client.path);
    expect((await redeem(client)).status).toBe(400);
  });

  it('remains valid if another session ends', async () => {
    const [session, userId] = [newSession(), await app.user()];
    const redeemed = await clientOf(session, { userId });
    const pair = (await redeem(redeemed)).body as { refresh_token: string };
    const others = [
      await clientOf(newSession(), { userId }),
      await clientOf(null, { userId, scope: 'profile:read' }),
    ];
    await endSession(session);
    await receivedAt(redeemed.path);
    for (const other of others) expect((await redeem(other)).status).toBe(200);
    const refresh = { grant_type: 'refresh_token', refresh_token: pair.refresh_token };
    const { clientId: client_id, secret: client_secret } = redeemed;
    expect((await app.post('token', { ...refresh, client_id, client_secret })).status).toBe(200);
  });
});

describe('the delivery of a logout token', () => {
  it('happens once with two token apps', async () => {
    configuration = Object.assign(new TokenConfiguration(), app.configuration);
    const second = await createService(tokenApp(configuration));
    await second.listen(0, '127.0.0.1');
    try {
      const sessions = Array.from({ length: 20 }, newSession);
      const clients = await Promise.all(sessions.map((session) => clientOf(session)));
      for (const session of sessions) await endSession(session);
      for (const { path } of clients) await receivedAt(path);
      await settled();
      expect(clients.map(({ path }) => receiver.at(path).length)).toEqual(sessions.map(() => 1));
    } finally {
      await second.close();
    }
  });

  // @back-channel logout 2.8
  it.each([
    [400, 'no body'],
    [404, 'a body that is compressed and does not end'],
  ])('is not repeated after status %d with %s, and causes an audit event', async (status, body) => {
    const session = newSession();
    const client = await clientOf(session);
    if (body !== 'no body') receiver.endless.add(client.path);
    receiver.statuses.set(client.path, status);
    await endSession(session);
    const [event] = await auditEvents(app.natsUrl, {
      types: ['logout_token.failed'],
      clientId: client.clientId,
    });
    expect(event).toMatchObject({
      service: 'token',
      user_id: app.userId,
      detail: { outcome: 'refused', failure: `status ${status}`, attempts: 1 },
    });
    expect(receiver.at(client.path)).toHaveLength(1);
  });

  describe('that was not accepted', () => {
    const failures = { 'status 503': 503, 'no response': 0, 'a redirect': 302 };
    const paths: Record<string, string> = {};
    let repeated: Promise<unknown>;

    // The deliveries wait together, because the first repetition follows after five seconds.
    beforeAll(async () => {
      for (const [what, status] of Object.entries(failures)) {
        const session = newSession();
        const { path } = await clientOf(session);
        paths[what] = path;
        receiver.statuses.set(path, status);
        await endSession(session);
      }
      repeated = Promise.all(
        Object.values(paths).map(async (path) => {
          await receivedAt(path);
          receiver.statuses.delete(path);
          await receivedAt(path, 2);
        }),
      ).then(settled);
    });

    it.each(Object.keys(failures))(
      'is repeated with the same jti after %s',
      async (what) => {
        await repeated;
        const ids = receiver.at(paths[what] ?? '').map(({ token }) => decodeJwt(token).jti);
        expect(ids).toHaveLength(2);
        expect(new Set(ids).size).toBe(1);
      },
      WITHIN_MS,
    );

    it('does not follow redirects', async () => {
      await repeated;
      expect(receiver.at('/elsewhere')).toEqual([]);
    });
  });

  it('to one client does not wait for the response of another client', async () => {
    const slow = `/slow-${newSession()}`;
    receiver.statuses.set(slow, 0);
    const sessions = Array.from({ length: 10 }, newSession);
    const [first = ''] = sessions;
    const client = await clientOf(first, { path: slow });
    for (const session of sessions.slice(1))
      await app.code(client.clientId, app.userId, { scope: 'openid', login: { authTime: null, session } });
    const quick = await clientOf(sessions.at(-1) ?? '');
    for (const session of sessions) await endSession(session);
    await receivedAt(quick.path);
    // Log-outs are processed in order. If deliveries waited for one another, this token would arrive after all requests
    // to the slow client.
    expect(receiver.at(slow).length).toBeLessThan(sessions.length);
    receiver.statuses.delete(slow);
  });
});
