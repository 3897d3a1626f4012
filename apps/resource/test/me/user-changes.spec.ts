import { readFile } from 'node:fs/promises';
import request from 'supertest';
import {
  SUBJECTS,
  type UserDeleteReply,
  type UserDisableReply,
  type UserUpsertReply,
} from '#messaging/contract.js';
import type { TestClient } from '#test/support/fixture.js';
import { until } from '#test/support/until.js';
import { type ResourceApp, startResourceApp } from '../support/start-resource-app.js';

const issuer = 'https://product.example.com';
const BEGIN = Date.parse('2026-01-01T00:00:00Z');

let app: ResourceApp;
let client: TestClient;
let number = 0;

beforeAll(async () => {
  app = await startResourceApp();
  client = await app.client();
});
afterAll(() => app.close());

const at = (minute: number): string => new Date(BEGIN + minute * 60_000).toISOString();
const upsert = (message: object) => app.ask<UserUpsertReply>(SUBJECTS.userUpsert, message);
const disable = (message: object) => app.ask<UserDisableReply>(SUBJECTS.userDisable, message);
const deletion = (message: object) => app.ask<UserDeleteReply>(SUBJECTS.userDelete, message);

async function newUser() {
  const external_id = `u${++number}`;
  const identity = { issuer, external_id };
  const user = { ...identity, email: `${external_id}@example.com`, name: 'Ada', updated_at: at(1) };
  const { user_id: id = 0 } = await upsert(user);
  return { identity, user, id };
}

async function me(
  token: string,
): Promise<{ status: number; name?: unknown; email?: unknown; username?: unknown }> {
  const answer = await request(app.server).get('/v2/me').set('Authorization', `Bearer ${token}`);
  const { data = {} } = answer.body as { data?: Record<string, unknown> };
  return answer.status === 200
    ? { status: 200, name: data['name'], email: data['email'], username: data['username'] }
    : { status: answer.status };
}

/** Polls /v2/me, which keeps its caches warm, until the response is as expected. Fails before the caches expire. */
const untilMe = (token: string, expected: Partial<Awaited<ReturnType<typeof me>>>): Promise<void> =>
  until(`/v2/me has ${JSON.stringify(expected)}`, 10_000, async () => {
    const answer = await me(token);
    return Object.entries(expected).every(([name, value]) => answer[name as 'status'] === value);
  });

describe('oauth.user.upsert', () => {
  it('creates and changes a user, and ignores repeated messages', async () => {
    const { user, id } = await newUser();
    expect(await upsert(user)).toEqual({ status: 'unchanged', user_id: id, disabled: false });
    const changed = { ...user, name: 'Ada Lovelace', bio: 'x', updated_at: at(2) };
    expect(await upsert(changed)).toEqual({ status: 'updated', user_id: id, disabled: false });
    expect(await upsert(changed)).toEqual({ status: 'unchanged', user_id: id, disabled: false });
  });

  it('changes /v2/me immediately, even if the profile is cached', async () => {
    const { user, id } = await newUser();
    const { access_token: token } = await app.pair(client, id);
    for (let minute = 2; minute < 7; minute++) {
      expect((await me(token)).status).toBe(200);
      const name = `Ada ${minute}`;
      await Promise.all([untilMe(token, { name }), upsert({ ...user, name, updated_at: at(minute) })]);
      await app.settled();
      expect(await me(token)).toMatchObject({ name });
    }
  });

  it('shows an email in /v2/me after it is verified and until it changes', async () => {
    const { user, id } = await newUser();
    const { access_token: token } = await app.pair(client, id);
    const hidden = { email: null, username: null };
    expect(await me(token)).toMatchObject(hidden);
    const verified = { ...user, email_verified: true, updated_at: at(2) };
    expect(await upsert(verified)).toMatchObject({ status: 'updated' });
    await app.settled();
    expect(await me(token)).toMatchObject({ email: user.email, username: user.email });
    expect(await upsert({ ...user, updated_at: at(3) })).toMatchObject({ status: 'updated' });
    await app.settled();
    expect(await me(token)).toMatchObject({ email: user.email });
    await upsert({ ...user, email: `new.${user.email}`, updated_at: at(4) });
    await app.settled();
    expect(await me(token)).toMatchObject(hidden);
  });

  it('does not show the email or username of another user in /v2/me', async () => {
    const other = await app.user();
    const [{ email, username } = { email: '', username: '' }] = (await app.sql(
      'SELECT email, username FROM users WHERE id = $1',
      [other],
    )) as { email: string; username: string }[];
    const { user, id } = await newUser();
    const { access_token: token } = await app.pair(client, id);
    const { access_token: theirs } = await app.pair(client, other);
    for (const [minute, name] of [username.toUpperCase(), email].entries()) {
      const stolen = { ...user, email, username: name, updated_at: at(minute + 2) };
      expect(await upsert(stolen)).toMatchObject({ status: 'updated' });
      await app.settled();
      expect(await me(token)).toMatchObject({ status: 200, email: null, username: null });
      expect(await me(theirs)).toMatchObject({ email, username });
    }
  });

  it('does not apply a change that is older than the last applied change', async () => {
    const { user, id } = await newUser();
    await upsert({ ...user, name: 'New', updated_at: at(9) });
    expect(await upsert({ ...user, name: 'Old', updated_at: at(8) })).toMatchObject({ status: 'stale' });
    const { access_token: token } = await app.pair(client, id);
    expect(await me(token)).toMatchObject({ name: 'New' });
  });

  it('keeps the newest of many concurrent changes', async () => {
    const { user, id } = await newUser();
    const minutes = Array.from({ length: 30 }, (_, index) => ((index * 7) % 30) + 2);
    await Promise.all(
      minutes.map((minute) => upsert({ ...user, name: `At ${minute}`, updated_at: at(minute) })),
    );
    const { access_token: token } = await app.pair(client, id);
    expect(await me(token)).toMatchObject({ name: 'At 31' });
  });

  it('refuses link_by_email without LOGIN_LINK_BY_EMAIL, and changes nothing', async () => {
    const id = await app.user();
    const [user] = (await app.sql('SELECT email FROM users WHERE id = $1', [id])) as { email: string }[];
    const identity = { issuer, external_id: `linked${id}` };
    const message = { ...identity, email: user?.email, email_verified: true, updated_at: at(1) };
    expect(await upsert({ ...message, link_by_email: true })).toEqual({
      status: 'invalid',
      problems: ['link_by_email needs LOGIN_LINK_BY_EMAIL=true of the token app'],
    });
    const identities = await app.sql('SELECT external_id FROM users WHERE email = $1', [user?.email]);
    expect(identities).toEqual([{ external_id: null }]);
    expect(await upsert({ ...message, link_by_email: false })).toMatchObject({ status: 'created' });
  });

  it('lists every problem in an invalid message, and changes nothing', async () => {
    const { user } = await newUser();
    const wrong = {
      ...user,
      updated_at: undefined,
      name: '',
      password_hash: '$2b$10$x',
      disabled: true,
      active: false,
      email_verified: 'yes',
      nickname: 'x',
    };
    const { status, problems = [] } = await upsert(wrong);
    expect(status).toBe('invalid');
    for (const problem of [
      'nickname is not a field of this operation',
      'name must be',
      'updated_at is missing',
      'password_hash is not a field of this operation',
      'disabled is not a field of this operation',
      'active must be true or absent',
      'email_verified must be true or false',
    ])
      expect(problems.join('\n')).toContain(problem);
    expect(await upsert({})).toMatchObject({ status: 'invalid' });
    expect(await upsert({ ...user, updated_at: '2999-01-01T00:00:00Z' })).toEqual({
      status: 'invalid',
      problems: ['updated_at must not be in the future'],
    });
    expect(await upsert(user)).toMatchObject({ status: 'unchanged' });
  });

  it('does not enable a user that was disabled by the operator', async () => {
    const { user, id } = await newUser();
    await app.accounts.disable(id);
    const late = { ...user, active: true, updated_at: at(9) };
    expect(await upsert(late)).toEqual({ status: 'updated', user_id: id, disabled: true });
    await app.accounts.enable(id);
    expect(await upsert(late)).toEqual({ status: 'unchanged', user_id: id, disabled: false });
  });
});

describe('oauth.user.disable', () => {
  it('ends every token of the user immediately, and prevents new grants', async () => {
    const { identity, id } = await newUser();
    const { access_token: token } = await app.pair(client, id);
    expect((await me(token)).status).toBe(200);
    const [reply] = await Promise.all([
      disable({ ...identity, updated_at: at(2) }),
      untilMe(token, { status: 401 }),
    ]);
    await app.settled();
    expect((await me(token)).status).toBe(401);
    expect(reply).toEqual({ status: 'disabled', user_id: id, revoked_grants: 1 });
    const again = { ...identity, updated_at: at(2) };
    expect(await disable(again)).toEqual({ status: 'unchanged', user_id: id, revoked_grants: 0 });
    await expect(app.code(client.client_id, id)).resolves.toEqual(expect.any(String));
    expect(await app.sql('SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL', [id])).toEqual([]);
  });

  it('is undone only by a newer upsert with active: true, which does not restore sessions', async () => {
    const { identity, user, id } = await newUser();
    const generation = () => app.sql('SELECT session_generation FROM users WHERE id = $1', [id]);
    await disable({ ...identity, updated_at: at(3) });
    const before = await generation();
    expect(await upsert({ ...user, updated_at: at(4) })).toMatchObject({ status: 'updated', disabled: true });
    expect(await upsert({ ...user, active: true, updated_at: at(2) })).toMatchObject({
      status: 'stale',
      disabled: true,
    });
    expect(await upsert({ ...user, active: true, updated_at: at(5) })).toMatchObject({
      status: 'updated',
      disabled: false,
    });
    expect(await generation()).not.toEqual(before);
    expect(await disable({ ...identity, updated_at: at(4) })).toEqual({ status: 'stale', user_id: id });
  });

  it('is undone by the operator only if the operator overrides the product', async () => {
    const { identity, user, id } = await newUser();
    await disable({ ...identity, updated_at: at(2) });
    await app.accounts.enable(id);
    expect(await upsert({ ...user, updated_at: at(3) })).toMatchObject({ disabled: true });
    await app.accounts.enable(id, true);
    expect(await upsert({ ...user, updated_at: at(3) })).toMatchObject({ disabled: false });
  });

  it('takes precedence over an older upsert that enables the user, in any order', async () => {
    for (let round = 0; round < 20; round++) {
      const { identity, user, id } = await newUser();
      await Promise.all([
        upsert({ ...user, active: true, updated_at: at(2) }),
        disable({ ...identity, updated_at: at(3) }),
      ]);
      const rows = await app.sql('SELECT disabled_at IS NOT NULL AS disabled FROM users WHERE id = $1', [id]);
      expect(rows).toEqual([{ disabled: true }]);
    }
  });

  it('reports unknown users and invalid messages', async () => {
    const unknown = { issuer, external_id: 'nobody', updated_at: at(1) };
    expect(await disable(unknown)).toEqual({ status: 'unknown' });
    expect(await disable({ external_id: 7, reason: 'x' })).toMatchObject({ status: 'invalid' });
  });
});

describe('oauth.user.delete', () => {
  const rowsOf = (id: number) => app.sql('SELECT 1 FROM users WHERE id = $1', [id]);

  it('ends every token of the user immediately, and deletes the user', async () => {
    const { identity, id } = await newUser();
    const { access_token: token } = await app.pair(client, id);
    expect((await me(token)).status).toBe(200);
    const [reply] = await Promise.all([
      deletion({ ...identity, updated_at: at(2) }),
      untilMe(token, { status: 401 }),
    ]);
    await app.settled();
    expect((await me(token)).status).toBe(401);
    expect(reply).toEqual({ status: 'deleted', user_id: id, revoked_grants: 1 });
    expect(await rowsOf(id)).toEqual([]);
    expect(await app.sql('SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL', [id])).toEqual([]);
  });

  it('deletes a user who was disabled by a message with the same updated_at', async () => {
    const { identity, id } = await newUser();
    const { access_token: token } = await app.pair(client, id);
    expect((await me(token)).status).toBe(200);
    const message = { ...identity, updated_at: at(2) };
    expect(await disable(message)).toMatchObject({ status: 'disabled' });
    expect(await deletion(message)).toEqual({ status: 'deleted', user_id: id, revoked_grants: 0 });
    expect((await me(token)).status).toBe(401);
    expect(await deletion(message)).toEqual({ status: 'unchanged' });
  });

  it('is not undone by an older upsert, but a newer upsert creates another user', async () => {
    const { identity, user, id } = await newUser();
    await deletion({ ...identity, updated_at: at(3) });
    for (const active of [undefined, true])
      expect(await upsert({ ...user, active, updated_at: at(2) })).toEqual({ status: 'stale' });
    const { status, user_id: other } = await upsert({ ...user, updated_at: at(4) });
    expect(status).toBe('created');
    expect(other).not.toBe(id);
    expect(await deletion({ ...identity, updated_at: at(3) })).toEqual({ status: 'stale', user_id: other });
  });

  it('remembers an unknown user, so that messages may arrive in any order', async () => {
    const identity = { issuer, external_id: `unknown${++number}` };
    expect(await deletion({ ...identity, updated_at: at(2) })).toEqual({ status: 'unknown' });
    const user = { ...identity, email: 'unknown@example.com', updated_at: at(1) };
    expect(await upsert(user)).toEqual({ status: 'stale' });
  });

  it('leaves no user or grant after concurrent messages', async () => {
    for (let round = 0; round < 10; round++) {
      const { identity, user, id } = await newUser();
      const replies = await Promise.all([
        upsert({ ...user, active: true, updated_at: at(2) }),
        deletion({ ...identity, updated_at: at(4) }),
        app.code(client.client_id, id).catch(() => undefined),
        deletion({ ...identity, updated_at: at(4) }),
        disable({ ...identity, updated_at: at(3) }),
      ]);
      const statuses = [replies[1], replies[3]].map(({ status }) => status);
      expect(statuses.toSorted()).toEqual(['deleted', 'unchanged']);
      expect(await rowsOf(id)).toEqual([]);
      expect(await app.sql('SELECT 1 FROM grants WHERE user_id = $1 AND revoked_at IS NULL', [id])).toEqual(
        [],
      );
    }
  });

  it('lists every problem in an invalid message', async () => {
    const { status, problems = [] } = await deletion({ issuer: 7, reason: 'x' });
    expect(status).toBe('invalid');
    for (const problem of [
      'external_id is missing',
      'updated_at is missing',
      'reason is not a field of this operation',
    ])
      expect(problems.join('\n')).toContain(problem);
  });
});

it.each(['upsert', 'disable', 'delete'] as const)(
  'the JSON schema of oauth.user.%s has the accepted fields',
  async (name) => {
    const schema = JSON.parse(await readFile(`docs/schemas/oauth.user.${name}.json`, 'utf8')) as {
      required: string[];
      properties: Record<string, unknown>;
      examples: object[];
    };
    const send = { upsert, disable, delete: deletion }[name];
    const statuses = await Promise.all(schema.examples.map(async (example) => (await send(example)).status));
    expect(statuses).not.toContain('invalid');
    // All fields of the schema are accepted.
    const empty = Object.fromEntries(Object.keys(schema.properties).map((field) => [field, {}]));
    const { problems = [] } = await send(empty);
    expect(problems.filter((problem) => /is not a field/.test(problem))).toEqual([]);
    const none = (await send({})).problems ?? [];
    for (const field of schema.required) expect(none.join('\n')).toContain(field);
  },
);
