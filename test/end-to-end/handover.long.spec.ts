import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ClientKey, DpopKey } from '#test/support/keys.js';
import { runOperator } from '../../apps/operator/test/support/run-operator.js';
import { allow, type RunningProduct, startProduct } from './running-product.js';

const bash = promisify(execFile);

let product: RunningProduct;

beforeAll(async () => {
  product = await startProduct({ CODE_LIFETIME: 47, RETRY_WINDOW: 11 });
});

afterAll(() => product.close());

async function operator(...args: string[]): Promise<string> {
  const { auth_url, base_url, api_url } = product.run;
  const env = { AUTH_URL: auth_url, BASE_URL: base_url, API_URL: api_url };
  const all = { ...env, DATABASE_URL: product.databaseUrl, NATS_URL: product.natsUrl };
  const { code, stdout, stderr } = await runOperator(args, all);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

async function run(commands: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await bash('bash', ['-euc', commands], { env: { ...process.env, ...env } });
  return stdout;
}

const REDIRECT_URI = "https://app.example.com/call'back?tenant=$HOME&x=7";

it.each([
  ['a confidential client', []],
  ['a public client', ['--public']],
  ['a client that must push its requests', ['--require-par']],
])('the requests that `operator client handover` prints work for %s', async (_kind, options) => {
  const registration = ['--name', 'Hand *over* me', '--redirect-uri', REDIRECT_URI, ...options];
  const registered = JSON.parse(await operator('client', 'create', ...registration, '--json')) as {
    client_id: string;
    client_secret: string | null;
  };
  const text = await operator('client', 'handover', registered.client_id);
  const [authorize = '', exchange = '', me = '', refresh = '', revoke = ''] = [
    ...text.matchAll(/^```sh\n(.*?)^```$/gms),
  ].map(([, commands = '']) => commands);
  const secret = { CLIENT_SECRET: registered.client_secret ?? '' };

  const started = await run(`${authorize}\necho "$STATE"; echo "$VERIFIER"`, secret);
  const [url = '', state, VERIFIER = ''] = started.split('\n');
  const callback = await allow(product.run, url);
  expect(callback.href).toContain("https://app.example.com/call'back?tenant=$HOME&x=7&code=");
  expect(callback.searchParams.get('state')).toBe(state);

  const CODE = callback.searchParams.get('code') ?? '';
  const tokens = JSON.parse(await run(exchange, { ...secret, CODE, VERIFIER })) as Record<string, string>;
  const ACCESS_TOKEN = tokens['access_token'] ?? '';
  expect(JSON.parse(await run(me, { ACCESS_TOKEN }))).toMatchObject({
    data: { email: product.run.user.email },
  });
  const REFRESH_TOKEN = tokens['refresh_token'] ?? '';
  const refreshed = JSON.parse(await run(refresh, { ...secret, REFRESH_TOKEN })) as Record<string, string>;
  expect(refreshed['refresh_token']).toMatch(/^srt_/);

  expect(callback.searchParams.get('iss')).toBe(product.run.base_url);
  expect(text).toContain(`\`iss\` is\n\`${product.run.base_url}\``);
  await run(revoke, { ...secret, REFRESH_TOKEN: refreshed['refresh_token'] ?? '' });
  expect(await run(me, { ACCESS_TOKEN })).toContain('"status":"error"');
});

it('the requests that `operator client handover` prints work for a client with the FAPI profile', async () => {
  const { base_url, api_url } = product.run;
  const [key, dpop] = [await ClientKey.generate(), await DpopKey.generate()];
  const folder = await mkdtemp(join(tmpdir(), 'handover-'));
  const jwks = join(folder, 'jwks.json');
  await writeFile(jwks, JSON.stringify({ keys: [key.jwk] }));
  const registration = ['--name', 'Bank', '--redirect-uri', REDIRECT_URI, '--profile', 'fapi2'];
  const created = await operator('client', 'create', ...registration, '--jwks', jwks, '--json');
  await rm(folder, { recursive: true });
  const { client_id: clientId } = JSON.parse(created) as { client_id: string };
  const text = await operator('client', 'handover', clientId);
  const [authorize = '', exchange = '', me = '', refresh = '', revoke = ''] = [
    ...text.matchAll(/^```sh\n(.*?)^```$/gms),
  ].map(([, commands = '']) => commands);
  const signed = async () => ({ ASSERTION: await key.assertion(clientId, base_url) });
  const proof = (method: string, url: string, settings = {}) => dpop.proof(method, url, settings);

  const started = await run(`${authorize}\necho "$VERIFIER"`, await signed());
  const [url = '', VERIFIER = ''] = started.split('\n');
  const CODE = (await allow(product.run, url)).searchParams.get('code') ?? '';
  const tokenProof = { PROOF: await proof('POST', `${base_url}${ENDPOINTS.token}`) };
  const tokens = JSON.parse(
    await run(exchange, { ...(await signed()), ...tokenProof, CODE, VERIFIER }),
  ) as Record<string, string>;
  const { access_token: ACCESS_TOKEN = '', refresh_token: REFRESH_TOKEN = '' } = tokens;
  const profile = async () => {
    const PROOF = await proof('GET', `${api_url}/v2/me`, { accessToken: ACCESS_TOKEN });
    return JSON.parse(await run(me, { ACCESS_TOKEN, PROOF })) as object;
  };
  expect(await profile()).toMatchObject({ data: { email: product.run.user.email } });
  const refreshProof = { PROOF: await proof('POST', `${base_url}${ENDPOINTS.refreshToken}`) };
  expect(
    JSON.parse(await run(refresh, { ...(await signed()), ...refreshProof, REFRESH_TOKEN })),
  ).toMatchObject({ token_type: 'DPoP', refresh_token: REFRESH_TOKEN });
  await run(revoke, { ...(await signed()), REFRESH_TOKEN });
  expect(await profile()).toMatchObject({ status: 'error' });
});

it('`operator client handover` prints all settings but no secret', async () => {
  const { client_id, client_secret } = JSON.parse(
    await operator('client', 'create', '--name', 'Five', '--redirect-uri', REDIRECT_URI, '--json'),
  ) as Record<string, string>;
  const { auth_url, base_url } = product.run;
  const text = await operator('client', 'handover', String(client_id), '--secret-delivery', 'in your vault');
  expect(text).toContain(`| client id | \`${client_id}\` |`);
  expect(text).toContain('| client secret | in your vault |');
  expect(text).toContain(`| authorization URL | ${auth_url}/auth/oauth2/authorize |`);
  expect(text).toContain(`| access-token request URL | ${base_url}/api/auth/oauth/token |`);
  expect(text).toContain(`| refresh-token request URL | ${base_url}/api/auth/oauth/refreshToken |`);
  // The running services use this lifetime. The default of the authorize app is longer.
  expect(text).toContain('Exchange the code within 47 seconds.');
  expect(text).toContain('repeat the same request within 11 seconds.');
  expect(text).not.toContain(client_secret);
  expect(text).not.toContain('scs_');
});
