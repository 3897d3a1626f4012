import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientStore } from '#clients/client.store.js';
import { runCommand } from '#local/servers/run-command.js';
import { ClientProcess } from '../support/client-process.js';
import { Browser } from '../support/browser.js';
import { becomesRefused } from '../support/tokens.js';
import { until } from '../support/until.js';
import { type RunningProduct, startProduct, withStores } from '../end-to-end/running-product.js';

const CLI = ['examples/command-line/cli.js'];
const PROGRAMS = {
  'xdg-open': 'printf %s "$1" > "$HOME/opened"',
  'secret-tool': `echo "$@" >> "$HOME/arguments"
case $1 in
  store) cat > "$HOME/keychain" ;;
  lookup) cat "$HOME/keychain" ;;
  clear) rm -f "$HOME/keychain" ;;
esac`,
};

const CONCURRENT = `
  import * as oauth from 'openid-client';
  import { useToken } from './session.js';
  const { ISSUER, CLIENT_ID, API_URL } = process.env;
  const options = { algorithm: 'oauth2', execute: [oauth.allowInsecureRequests] };
  const server = await oauth.discovery(new URL(ISSUER), CLIENT_ID, {}, oauth.None(), options);
  await Promise.all(Array.from({ length: 4 }, () => useToken(server, new URL('/v2/me', API_URL))));`;

let product: RunningProduct;
let clientId: string;
let home: string;
let login: ClientProcess | undefined;

beforeAll(async () => {
  // Without a retry window, a second use of a refresh token revokes its grant.
  product = await startProduct({ RETRY_WINDOW: 0 });
  ({ clientId } = await withStores(product.databaseUrl, (stores) =>
    stores.get(ClientStore).create({
      name: 'Scheduling CLI',
      type: 'public',
      scopes: ['profile:read'],
      redirectUris: ['http://127.0.0.1/callback'],
      deviceGrant: true,
    }),
  ));
});

afterAll(() => product.close());

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'command-line-'));
});

afterEach(async () => {
  await login?.stop();
  login = undefined;
  await rm(home, { recursive: true, force: true });
});

/** @param programs commands on the PATH, in addition to Node */
async function environment(...programs: readonly (keyof typeof PROGRAMS)[]): Promise<NodeJS.ProcessEnv> {
  for (const name of programs)
    await writeFile(join(home, name), `#!/bin/sh\n${PROGRAMS[name]}\n`, { mode: 0o755 });
  const { base_url: ISSUER, api_url: API_URL } = product.run;
  return { PATH: `${home}:/usr/bin:/bin`, HOME: home, DISPLAY: ':0', ISSUER, API_URL, CLIENT_ID: clientId };
}

const run = (command: string, env: NodeJS.ProcessEnv) =>
  runCommand(process.execPath, [...CLI, command], { cwd: process.cwd(), env });

/** @returns the URL that the browser opened */
async function startLogin(env: NodeJS.ProcessEnv): Promise<URL> {
  login = new ClientProcess(process.execPath, [...CLI, 'login'], { cwd: process.cwd(), env });
  const opened = join(home, 'opened');
  await until('the browser opens', 60_000, async () => (await readFile(opened, 'utf8')) !== '');
  const url = await readFile(opened, 'utf8');
  await rm(opened);
  return new URL(url);
}

async function logIn(env: NodeJS.ProcessEnv): Promise<void> {
  const callback = await new Browser('').allow(await startLogin(env), product.run.user);
  expect(await (await fetch(callback)).text()).toContain('You are logged in.');
  expect([await login?.exitCode(), login?.errors]).toEqual([0, expect.stringContaining('Logged in.')]);
}

const fileOf = () =>
  join(home, '.local/state/scheduling-cli', `${encodeURIComponent(product.run.base_url)}.json`);
const stored = async () =>
  JSON.parse(await readFile(fileOf(), 'utf8')) as { access_token: string; refresh_token: string };

describe('examples/command-line', () => {
  // @rfc 8252 7.3
  it('stores the tokens of a login in a private file until the log-out', async () => {
    const env = await environment('xdg-open');
    await logIn(env);
    expect((await stat(fileOf())).mode & 0o777).toBe(0o600);
    expect(await run('whoami', env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('ada@example.com'),
    });
    const { access_token } = await stored();
    expect(await run('logout', env)).toMatchObject({ code: 0 });
    expect(existsSync(fileOf())).toBe(false);
    await becomesRefused(product.run.api_url, access_token);
    expect(await run('whoami', env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not logged in'),
    });
  });

  // @rfc 8628 3.3.1
  it('logs in with a browser on another device over SSH', async () => {
    const env = { ...(await environment('xdg-open')), SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' };
    login = new ClientProcess(process.execPath, [...CLI, 'login'], { cwd: process.cwd(), env });
    const address = await login.printedUrl('/auth/device');
    const phone = new Browser(product.run.auth_url);
    const { email: username, password } = product.run.user;
    const loggedIn = await phone.submit(await phone.open(address), { username, password });
    const user_code = address.searchParams.get('user_code') ?? '';
    const consent = await phone.submit(await phone.follow(loggedIn), { user_code }, '/auth/device');
    await phone.submit(consent, { decision: 'allow' }, '/auth/device/decision');
    expect([await login.exitCode(), login.errors]).toEqual([0, expect.stringContaining('Logged in.')]);
    expect(existsSync(join(home, 'opened'))).toBe(false);
    expect(await run('whoami', env)).toMatchObject({ code: 0 });
  });

  it('stores the tokens in the keychain without passing them as arguments', async () => {
    const env = await environment('xdg-open', 'secret-tool');
    await logIn(env);
    expect(existsSync(fileOf())).toBe(false);
    expect(await run('whoami', env)).toMatchObject({ code: 0 });
    expect(await readFile(join(home, 'arguments'), 'utf8')).not.toMatch(/s[ar]t_/);
    expect(await run('logout', env)).toMatchObject({ code: 0 });
    expect(existsSync(join(home, 'keychain'))).toBe(false);
  });

  it('refreshes expired tokens once for concurrent requests', async () => {
    const env = await environment('xdg-open');
    await logIn(env);
    const before = await stored();
    await writeFile(fileOf(), JSON.stringify({ ...before, expires_at: 0 }));
    // One process sends all requests, so that each request reads the tokens before a refresh has succeeded.
    const folder = { cwd: 'examples/command-line', env };
    const result = await runCommand(process.execPath, ['--input-type=module', '--eval', CONCURRENT], folder);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect((await stored()).refresh_token).not.toBe(before.refresh_token);
  });

  it('ignores a response to another request', async () => {
    const url = await startLogin(await environment('xdg-open'));
    const redirectUri = url.searchParams.get('redirect_uri') ?? '';
    const forged = await fetch(`${redirectUri}?${new URLSearchParams({ code: 'sac_x', state: 'forged' })}`);
    expect(forged.status).toBe(404);
    await fetch(await new Browser('').allow(url, product.run.user));
    expect(await login?.exitCode()).toBe(0);
  });

  it('reports that access has ended after a revocation', async () => {
    const env = await environment('xdg-open');
    await logIn(env);
    const { access_token: token } = await stored();
    const body = new URLSearchParams({ token, client_id: clientId });
    await fetch(`${product.run.base_url}/api/auth/oauth/revoke`, { method: 'POST', body });
    await becomesRefused(product.run.api_url, token);
    expect(await run('whoami', env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('access has ended'),
    });
    expect(existsSync(fileOf())).toBe(false);
  });
});
