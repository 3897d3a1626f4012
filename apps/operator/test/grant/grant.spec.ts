import { randomBytes } from 'node:crypto';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { becomesRefused, statusOfToken } from '#test/support/tokens.js';
import { expectRefused, jsonOf, runCommand, useRunningApps } from '../support/use-operator.js';

const { env, urls, fixture } = useRunningApps(['token', 'resource']);

const grant = (...args: string[]) => runCommand(['grant', ...args], env);

interface Granted {
  readonly id: string;
  readonly accessToken: string;
}

/** Creates a live grant, whose access token is in the cache of the API. */
async function granted(client: TestClient, userId: number): Promise<Granted> {
  const code = await fixture.code(client.client_id, userId);
  const answer = await fetch(`${urls.token}/api/auth/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      ...client,
    }),
  });
  const { access_token: accessToken } = (await answer.json()) as { access_token: string };
  expect(await statusOfToken(urls.resource, accessToken)).toBe(200);
  return { id: fixture.grantIdOf(accessToken), accessToken };
}

async function person(): Promise<{ readonly id: number; readonly username: string }> {
  const id = await fixture.user();
  const [row] = await fixture.sql('SELECT id, username FROM users WHERE id = $1', [id]);
  return row as { id: number; username: string };
}

const idsOf = async (...args: string[]) =>
  (JSON.parse((await grant('list', '--json', ...args)).stdout) as { id: string }[]).map(({ id }) => id);

const works = ({ accessToken }: Granted) => statusOfToken(urls.resource, accessToken);

const isOver = async ({ accessToken }: Granted) => {
  await becomesRefused(urls.resource, accessToken);
};

describe('operator grant list', () => {
  it('lists the live grants of a user or a client in pages, newest first', async () => {
    const [ada, bob] = [await person(), await person()];
    const [calendar, other] = [await fixture.client(), await fixture.client()];
    const first = await granted(calendar, ada.id);
    const second = await granted(other, ada.id);
    const third = await granted(calendar, bob.id);
    expect(await idsOf('--user', ada.username)).toEqual([second.id, first.id]);
    expect(await idsOf('--client', calendar.client_id)).toEqual([third.id, first.id]);
    expect(await idsOf('--user', ada.username, '--client', calendar.client_id)).toEqual([first.id]);
    expect(await idsOf('--client', calendar.client_id, '--limit', '1')).toEqual([third.id]);
    const { stderr } = await grant('list', '--client', calendar.client_id, '--limit', '1');
    const [, next = ''] = /^For the next page, add --cursor (\S+)$/m.exec(stderr) ?? [];
    expect(await idsOf('--client', calendar.client_id, '--cursor', next)).toEqual([first.id]);
  });

  it('lists ended grants only with --ended', async () => {
    const { id: userId, username } = await person();
    const ended = await granted(await fixture.client(), userId);
    await fixture.records.revoke(ended.id);
    expect(await idsOf('--user', username)).toEqual([]);
    expect(await idsOf('--user', username, '--ended')).toEqual([ended.id]);
    expect((await grant('list', '--user', username)).stdout).toBe('No grants found.\n');
  });

  it.each([
    [['--limit', '0'], /--limit must be a whole number from 1 to 1000/],
    [['--cursor', 'x'], /--cursor is not a cursor of this list/],
    [['--user', 'no-body'], /there is no user "no-body"/],
    [['--client', 'sc_none'], /there is no client "sc_none"/],
  ])('refuses %j', async (args, problem) => {
    expectRefused(await grant('list', ...args), problem);
  });
});

describe('operator grant show', () => {
  it('shows the state of a grant, even of a deleted user, but never a token', async () => {
    const { id: userId, username } = await person();
    const client = await fixture.client();
    const { id, accessToken } = await granted(client, userId);
    const show = async () => jsonOf(await grant('show', id, '--json'));
    const day = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;
    const shown = {
      id,
      user_id: userId,
      username,
      client_id: client.client_id,
      client_name: 'Calendar Connect',
      scope: 'profile:read',
      state: 'live',
      created_at: day,
      last_used_on: null,
      expires_at: day,
      revoked_at: null,
      version: 1,
    };
    expect(await show()).toEqual(shown);
    const { stdout } = await grant('show', id);
    expect(stdout).toMatch(/^state +live$/m);
    expect(stdout).not.toContain(accessToken);
    await fixture.sql("UPDATE grants SET expires_at = now() - interval '1 day' WHERE id = $1", [id]);
    expect(await show()).toMatchObject({ state: 'expired' });
    await fixture.accounts.delete(userId);
    expect(await show()).toMatchObject({ state: 'revoked', revoked_at: day, username: null });
  });

  it('exits with 2 for an unknown grant', async () => {
    expectRefused(await grant('show', randomBytes(32).toString('base64url')), /there is no grant "/);
  });
});

describe('operator grant revoke', () => {
  it('immediately revokes only the given grant, even if its token is cached', async () => {
    const { id: userId } = await person();
    const client = await fixture.client();
    const [revoked, kept] = [await granted(client, userId), await granted(client, userId)];
    expect(jsonOf(await grant('revoke', revoked.id, '--json'))).toEqual({
      id: revoked.id,
      revoked: true,
      revoked_before: false,
    });
    await isOver(revoked);
    expect(await works(kept)).toBe(200);
    expect((await grant('revoke', revoked.id)).stdout).toContain('was already revoked');
  });

  it.each([
    ['a user', (user: string) => ['--user', user], [true, true, false]],
    ['a client', (_: string, client: string) => ['--client', client], [true, false, true]],
    [
      'a user to a client',
      (user: string, client: string) => ['--user', user, '--client', client],
      [true, false, false],
    ],
  ])('revokes the grants of %s', async (_whose, options, ended) => {
    const [ada, bob] = [await person(), await person()];
    const [calendar, other] = [await fixture.client(), await fixture.client()];
    const grants = [
      await granted(calendar, ada.id),
      await granted(other, ada.id),
      await granted(calendar, bob.id),
    ];
    const args = [...options(ada.username, calendar.client_id), '--yes', '--json'];
    const count = ended.filter(Boolean).length;
    expect(jsonOf(await grant('revoke', ...args))).toEqual({ revoked_grants: count });
    for (const [index, tokens] of grants.entries())
      if (ended[index]) await isOver(tokens);
      else expect(await works(tokens)).toBe(200);
    expect(jsonOf(await grant('revoke', ...args))).toEqual({ revoked_grants: 0 });
  });

  it('revokes nothing without --yes or a terminal', async () => {
    const { id: userId, username } = await person();
    const token = await granted(await fixture.client(), userId);
    expectRefused(await grant('revoke', '--user', username), /--yes is missing\. Revoke 1 live grant\?/);
    expect(await works(token)).toBe(200);
  });

  // Must be the last test with live grants, because it revokes the grants of all tests.
  it('revokes all grants of all users with --all', async () => {
    const grants = [
      await granted(await fixture.client(), await fixture.user()),
      await granted(await fixture.client(), await fixture.user()),
    ];
    expect((await grant('revoke', '--all', '--yes')).stdout).toMatch(
      /^Revoked \d+ grants: none of their tokens works any more\.$/m,
    );
    for (const tokens of grants) await isOver(tokens);
    expect(await idsOf()).toEqual([]);
  });

  it.each([
    [[], /say which grants/],
    [['--all', '--user', 'ada'], /say which grants/],
    [['GbWvlLZo4bRhl8YlZ3RoUh4Nm4dX1QyS0m0O8m3pKcA', '--all'], /say which grants/],
    [['x'], /the grant must be the id of a grant/],
  ])('refuses %j', async (args, problem) => {
    expectRefused(await grant('revoke', ...args), problem);
  });
});
