import { appSettings } from '#test/support/app-settings.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { isolate } from '#test/support/isolate.js';
import { becomesRefused, statusOfToken, type Pair } from '#test/support/tokens.js';
import { runCommand, useRunningApps } from '../support/use-operator.js';

const { env, urls, fixture } = useRunningApps(['token', 'resource']);
let userId: number;

beforeAll(async () => {
  userId = await fixture.user();
});

const remove = (...args: string[]) => runCommand(['client', 'delete', ...args], env);

async function send(body: object): Promise<{ status: number; body: Record<string, string> }> {
  const answer = await fetch(`${urls.token}/api/auth/oauth/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

async function pair(client: object & { client_id: string }, redirectUri = REDIRECT_URI): Promise<Pair> {
  const code = await fixture.code(client.client_id, userId, { redirectUri });
  const body = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...client };
  return (await send(body)).body as unknown as Pair;
}

const refresh = (client: object, { refresh_token }: Pair) =>
  send({ grant_type: 'refresh_token', refresh_token, ...client });

const me = ({ access_token }: Pair) => statusOfToken(urls.resource, access_token);

const refused = ({ access_token }: Pair) => becomesRefused(urls.resource, access_token);

const grantOf = async ({ access_token }: Pair) => fixture.records.find(fixture.grantIdOf(access_token));

describe('operator client disable and enable', () => {
  const set = (state: 'disable' | 'enable', ...args: string[]) => runCommand(['client', state, ...args], env);

  it('immediately invalidate and restore all tokens of the client, even cached tokens', async () => {
    const [client, other] = [await fixture.client(), await fixture.client()];
    const [got, revoked, kept] = [await pair(client), await pair(client), await pair(other)];
    for (const each of [got, revoked, kept]) expect(await me(each)).toBe(200);

    const { code, stdout, stderr } = await set('disable', client.client_id, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      client_id: client.client_id,
      disabled: true,
      disabled_before: false,
    });
    for (const each of [got, revoked]) {
      await refused(each);
      expect((await refresh(client, each)).body).toMatchObject({
        error: 'invalid_client',
        error_description: expect.stringContaining('disabled'),
      });
      expect((await grantOf(each))?.revokedAt).toBeNull();
    }
    expect(await me(kept)).toBe(200);
    expect((await refresh(other, kept)).status).toBe(200);

    await runCommand(['grant', 'revoke', fixture.grantIdOf(revoked.access_token)], env);
    const again = await set('enable', client.client_id, '--json');
    expect(JSON.parse(again.stdout)).toEqual({
      client_id: client.client_id,
      disabled: false,
      disabled_before: true,
    });
    expect(await me(got)).toBe(200);
    expect(await me(revoked)).toBe(401);
    expect((await refresh(client, got)).status).toBe(200);
    expect((await refresh(client, revoked)).body['error']).toBe('invalid_grant');
  });

  it('can be repeated, and report the previous state', async () => {
    const { client_id: id } = await fixture.client();
    expect((await set('enable', id)).stdout).toBe(`${id} was not disabled.\n`);
    expect((await set('disable', id)).stdout).toContain(`Disabled ${id}: none of its tokens works`);
    expect((await set('disable', id)).stdout).toContain(
      `${id} was disabled before: none of its tokens works`,
    );
    expect((await set('enable', id)).stdout).toContain(`Enabled ${id}: its tokens work again`);
  });

  it('set the state that list, show and search print', async () => {
    const { client_id: id } = await fixture.client();
    await set('disable', id);
    const line = new RegExp(`^${id} +confidential +disabled `, 'm');
    expect((await runCommand(['client', 'list'], env)).stdout).toMatch(line);
    expect((await runCommand(['client', 'search', id], env)).stdout).toMatch(line);
    expect((await runCommand(['client', 'show', id], env)).stdout).toMatch(/^disabled_at +\d{4}-/m);
  });

  it('refuse an unknown or deleted client, and succeed with a warning if NATS is unavailable', async () => {
    const { client_id: id } = await fixture.client();
    const withoutNats = { ...env, NATS_URL: 'nats://user:natspassword@127.0.0.1:1' };
    const warned = await runCommand(['client', 'disable', id], withoutNats);
    expect(warned).toMatchObject({ code: 0, stderr: expect.stringContaining('NATS (NATS_URL)') });
    await remove(id, '--yes');
    for (const gone of ['sc_unknown', id])
      for (const state of ['disable', 'enable'] as const)
        expect(await set(state, gone)).toMatchObject({
          code: 2,
          stdout: '',
          stderr: expect.stringContaining('See:\n  operator client list'),
        });
  });
});

describe('operator client import', () => {
  it('makes the secrets and redirect URIs of another installation work immediately', async () => {
    const elsewhere = await isolate();
    const there = appSettings(elsewhere);
    const named = ['--name', 'Calendar', '--redirect-uri', REDIRECT_URI, '--json'];
    const created = await runCommand(['client', 'create', ...named], there);
    const { client_id, client_secret } = JSON.parse(created.stdout) as TestClient;
    const client = { client_id, client_secret };
    // Makes the token app cache that this client is unknown.
    const unknown = await send({ grant_type: 'refresh_token', refresh_token: 'srt_x', ...client });
    expect(unknown.body['error']).toBe('invalid_client');

    const { stdout: file } = await runCommand(['client', 'export', client_id], there);
    const { code } = await runCommand(['client', 'import', '-'], env, file);
    await elsewhere.close();
    expect(code).toBe(0);
    const got = await pair(client);
    expect(await me(got)).toBe(200);

    const disabled = file.replace('disabled: false', 'disabled: true');
    expect((await runCommand(['client', 'import', '-'], env, disabled)).code).toBe(0);
    await refused(got);
  });
});

describe('operator client delete', () => {
  it('immediately invalidates all tokens of the client, even cached tokens, and no other tokens', async () => {
    const [client, other] = [await fixture.client(), await fixture.client()];
    const [first, second, kept] = [await pair(client), await pair(client), await pair(other)];
    for (const each of [first, second, kept]) expect(await me(each)).toBe(200);

    const { code, stdout, stderr } = await remove(client.client_id, '--yes', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      client_id: client.client_id,
      deleted: true,
      deleted_before: false,
      revoked_grants: 2,
    });
    for (const each of [first, second]) {
      await refused(each);
      expect((await refresh(client, each)).body['error']).toBe('invalid_client');
      expect((await grantOf(each))?.revokedAt).toBeInstanceOf(Date);
    }
    expect(await me(kept)).toBe(200);
    expect((await refresh(other, kept)).status).toBe(200);
  });

  it('also invalidates the tokens of a public client, which has no secret', async () => {
    const phone = await fixture.publicClient('com.example.app:/callback');
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const code = await fixture.code(phone.client_id, userId, {
      redirectUri: 'com.example.app:/callback',
      challenge,
    });
    const first = await send({
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'com.example.app:/callback',
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      ...phone,
    });
    const got = first.body as unknown as Pair;
    expect(await me(got)).toBe(200);
    expect((await remove(phone.client_id, '--yes')).code).toBe(0);
    expect((await refresh(phone, got)).body['error']).toBe('invalid_client');
    await refused(got);
  });

  it('deletes nothing without --yes, and refuses an unknown client', async () => {
    const client: TestClient = await fixture.client();
    const registered = await fixture.clients.find(client.client_id);
    const unsure = await remove(client.client_id);
    const unknown = await remove('sc_unknown', '--yes');
    expect(unsure).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(
        `--yes is missing. Delete "${registered?.name}" (${client.client_id}) `,
      ),
    });
    expect(unknown).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('See:\n  operator client list'),
    });
    expect(await fixture.clients.find(client.client_id)).not.toBeNull();
  });

  it('fails if it cannot notify the token app, and completes when repeated', async () => {
    const client = await fixture.client();
    const got = await pair(client);
    expect(await me(got)).toBe(200);
    const args = ['client', 'delete', client.client_id, '--yes'];
    const failed = await runCommand(args, { ...env, NATS_URL: 'nats://user:natspassword@127.0.0.1:1' });
    expect(failed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('run this command again'),
    });
    expect(failed.stderr).not.toContain('natspassword');
    expect(await fixture.clients.find(client.client_id)).toBeNull();
    const again = await remove(client.client_id, '--yes');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(again.stdout).toMatch(/^sc_\w+ was already deleted; none of its tokens works any more\.$/m);
    expect(again.stdout).not.toContain('Deleted');
    await refused(got);
    const { stdout } = await remove(client.client_id, '--yes', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ deleted: true, deleted_before: true, revoked_grants: 0 });
  });
});
