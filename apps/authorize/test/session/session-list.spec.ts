import { createHash } from 'node:crypto';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { natsOptions } from '#messaging/nats.connection.js';
import { OPERATOR_SUBJECTS, type UserSessionsReply } from '#messaging/operator-requests.js';
import { useAuthorizeApp } from '../support/use-authorize-app.js';

const { app } = useAuthorizeApp({ SESSION_IDLE_LIFETIME: 600, SESSION_LIFETIME: 3_600 });

let nats: NatsConnection;

beforeAll(async () => {
  nats = await connect(natsOptions(app.services.natsUrl, 'operator test'));
});

afterAll(() => nats.close());

const digest = (cookie = '') => createHash('sha256').update(cookie).digest('base64url');

async function sessionsOf(userId: number) {
  const request = JSON.stringify({ user_id: userId });
  const reply = await nats.request(OPERATOR_SUBJECTS.userSessions, request, { timeout: 60_000 });
  return { text: reply.string(), sessions: reply.json<UserSessionsReply>().sessions };
}

describe('the list of sessions for operators', () => {
  it('contains the times of each session, but nothing that identifies the session', async () => {
    const user = await app.user();
    const browsers = [await app.loggedIn(user), await app.loggedIn(user)];
    const [cookie] = browsers.map(({ cookies }) => cookies.get('oauth_service_session') ?? '');
    const key = `session:${digest(cookie)}`;
    await app.redis.expire(key, 60);
    const { text, sessions } = await sessionsOf(user.id);
    expect(sessions).toHaveLength(2);
    const [newer, older] = sessions.map(
      (session) => Date.parse(session.last_used_at) - Date.parse(session.started_at),
    );
    // The remaining 60 of 600 seconds mean that the last use was 540 seconds ago.
    expect(Math.round((older ?? 0) / -60_000)).toBe(9);
    expect(newer).toBeGreaterThan(-30_000);
    expect(await app.redis.ttl(key)).toBeLessThanOrEqual(60);
    const stored = await app.redis.get(key);
    expect(text).not.toMatch(new RegExp([cookie, digest(cookie), 'loginFor'].join('|')));
    expect(stored).toContain('loginFor');
  });

  it('omits sessions that have ended and sessions of other users', async () => {
    const user = await app.user();
    const browser = await app.loggedIn(user);
    await app.loggedIn(await app.user());
    await app.redis.zadd(`sessions-of-user:${user.id}`, Date.now(), 'gone');
    expect((await sessionsOf(user.id)).sessions).toHaveLength(1);
    const key = `session:${digest(browser.cookies.get('oauth_service_session'))}`;
    const session = JSON.parse((await app.redis.get(key)) ?? '') as object;
    for (const change of [{ authTime: Date.now() - 3_601_000 }, { generation: -1 }]) {
      await app.redis.set(key, JSON.stringify({ ...session, ...change }), 'EX', 600);
      expect((await sessionsOf(user.id)).sessions).toEqual([]);
    }
  });

  it('keeps at most 100 sessions of a user, and no session beyond its lifetime', async () => {
    const user = await app.user();
    const key = `sessions-of-user:${user.id}`;
    const now = Date.now();
    const known = Array.from({ length: 110 }, (_, at) => [now - at - 1, `s${at}`]);
    await app.redis.zadd(key, ...known.flat(), now - 3_700_000, 'old');
    await app.loggedIn(user);
    expect(await app.redis.zcard(key)).toBe(100);
    expect(await app.redis.ttl(key)).toBeLessThanOrEqual(3_600);
    expect((await app.redis.zrange(key, '0', '0'))[0]).toBe('s98');
  });
});
