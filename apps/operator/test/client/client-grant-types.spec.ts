import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auditEvents } from '#test/support/audit-trail.js';
import { expectRefused, jsonOf, useOperator } from '../support/use-operator.js';

const CALLBACK = 'https://app.example.com/callback';
const CONSOLE_URL = 'https://console.example.com';

const operator = useOperator();
const client = (args: readonly string[], env: object = { CONSOLE_URL }, stdin = '') =>
  operator.run(['client', ...args], { ...operator.env, API_URL: 'https://api.example.com', ...env }, stdin);

let folder: string;
let own: string[];
let created: { readonly client_id: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-credentials-'));
  const jwks = join(folder, 'jwks.json');
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(jwks, JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] }));
  own = ['create', '--name', 'Terraform', '--grant-type', 'client_credentials', '--jwks', jwks];
  created = jsonOf(await client([...own, '--scope', 'admin:read', '--json'])) as typeof created;
});
afterAll(() => rm(folder, { recursive: true }));

describe('operator client create --grant-type client_credentials', () => {
  it('registers an API client with keys and scopes, and without settings for users', async () => {
    expect(created).toEqual({
      client_id: expect.stringMatching(/^sc_/),
      client_secret: null,
      secret_id: null,
      token_url: 'https://api.example.com/api/auth/oauth/token',
      api_url: `${CONSOLE_URL}/admin/v1`,
      auth_method: 'private_key_jwt',
      assertion_audience: 'https://api.example.com',
      keys: [expect.any(String)],
    });
    expect(jsonOf(await client(['show', created.client_id, '--json']))).toMatchObject({
      grant_types: ['client_credentials'],
      redirect_uris: [],
      scopes: ['admin:read'],
    });
    expect((await client(['list'])).stdout).toMatch(/^sc_\w+ +client_credentials +enabled /m);
    const [event] = await auditEvents(operator.natsUrl, { clientId: created.client_id }, 1);
    expect(event).toMatchObject({ type: 'client.created', detail: { grant_types: ['client_credentials'] } });
  });

  it.each<[RegExp, readonly string[]]>([
    [/a scope is missing: give one or more of admin:read, admin:write, admin:operators/, []],
    [/--scope "profile:read" is not a scope of the HTTP API/, ['--scope', 'admin:read profile:read']],
    [/--redirect-uri is not possible/, ['--scope', 'admin:read', '--redirect-uri', CALLBACK]],
    [/--public: a public client cannot keep a private key/, ['--scope', 'admin:read', '--public']],
    [/--profile is not possible/, ['--scope', 'admin:read', '--profile', 'fapi2']],
    [/--optional-scope is not possible/, ['--scope', 'admin:read', '--optional-scope', 'admin:read']],
    [/--first-party is not possible/, ['--scope', 'admin:read', '--first-party']],
  ])('refuses invalid input with the error %s', async (problem, args) => {
    expectRefused(await client([...own, ...args]), problem);
  });

  it('requires keys and CONSOLE_URL', async () => {
    const withoutKeys = own.filter((word) => !word.startsWith('--jwks') && !word.endsWith('jwks.json'));
    expectRefused(await client([...withoutKeys, '--scope', 'admin:read']), /--jwks is missing/);
    expectRefused(await client([...own, '--scope', 'admin:read'], {}), /set CONSOLE_URL/);
    const password = own.map((word) => (word === 'client_credentials' ? 'password' : word));
    expectRefused(await client(password), /--grant-type "password" is unknown/);
  });

  it('refuses the scopes of the HTTP API for other applications', async () => {
    const given = ['create', '--name', 'Calendar', '--redirect-uri', CALLBACK];
    const refused = /--scope "admin:write" is only for clients of client_credentials/;
    expectRefused(await client([...given, '--scope', 'profile:read admin:write']), refused);
    const { client_id: id } = jsonOf(await client([...given, '--json'])) as { client_id: string };
    expectRefused(await client(['update', id, '--add-scope', 'admin:write']), /"admin:write" is only for/);
  });
});

describe('a client_credentials client', () => {
  it('can get other scopes, but no settings for users', async () => {
    const { client_id: id } = created;
    const update = (...args: string[]) => client(['update', id, ...args]);
    expect(jsonOf(await update('--json', '--add-scope', 'admin:write'))).toMatchObject({
      scopes: ['admin:read', 'admin:write'],
    });
    expect(jsonOf(await update('--json', '--remove-scope', 'admin:write'))).toMatchObject({
      scopes: ['admin:read'],
    });
    expectRefused(await update('--add-scope', 'profile:read'), /not a scope of the HTTP API/);
    expectRefused(await update('--jwks', 'none'), /--jwks is missing/);
    expectRefused(await update('--add-redirect-uri', CALLBACK), /--add-redirect-uri is not possible/);
    expectRefused(await update('--first-party', 'true'), /--first-party is not possible/);
    expectRefused(await client(['secret', 'rotate', id]), /keys/);
  });

  it('has a hand-over text with the address of the API', async () => {
    const { stdout } = await client(['handover', created.client_id]);
    expect(stdout).toContain(`${CONSOLE_URL}/admin/v1`);
    expect(stdout).toContain('-d grant_type=client_credentials');
    expect(stdout).not.toMatch(/redirect|refresh token (stays|of each)|authorization URL/i);
  });

  it('is exported and imported', async () => {
    const text = (await client(['export', created.client_id])).stdout;
    expect(text).toMatch(/grant_types:\n +- client_credentials/);
    const copy = text.replace(created.client_id, 'sc_copy');
    const result = jsonOf(await client(['import', '-', '--json'], {}, copy));
    expect(JSON.stringify(result)).toContain('sc_copy');
    expect((await client(['export', 'sc_copy'])).stdout).toBe(
      copy.replace(
        /created_at: .*/,
        (await client(['export', 'sc_copy'])).stdout.match(/created_at: .*/)?.[0] ?? '',
      ),
    );
    for (const [problem, changed] of [
      [/client_id must begin with sc_/, text.replace(created.client_id, '"7"')],
      [/redirect_uris is not possible/, copy.replace('redirect_uris: []', `redirect_uris: [${CALLBACK}]`)],
      [/"profile:read" is not a scope of the HTTP API/, copy.replace('- admin:read', '- profile:read')],
      [
        /grant_types is client_credentials, and cannot be changed/,
        copy.replace('- client_credentials', '- authorization_code'),
      ],
      [/grant_types "password" is unknown/, copy.replace('- client_credentials', '- password')],
    ] as const)
      expectRefused(await client(['import', '-'], {}, changed), problem);
  });
});

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
const LOOPBACK = 'http://127.0.0.1/callback';

const createDevice = async (...args: readonly string[]) =>
  jsonOf(await client(['create', '--name', 'Display', '--public', '--json', ...args])) as {
    client_id: string;
  };
const shown = async (id: string) => jsonOf(await client(['show', id, '--json']));

describe('operator client create --grant device', () => {
  it('registers a device without redirect URIs, and prints the device authorization URL', async () => {
    const device = await createDevice('--grant', 'device');
    expect(device).toMatchObject({
      device_authorization_url: 'https://api.example.com/api/auth/oauth/device_authorization',
    });
    expect(await shown(device.client_id)).toMatchObject({ grant_types: [DEVICE_CODE], redirect_uris: [] });
    const { stdout: markdown } = await client(['handover', device.client_id]);
    expect(markdown).toContain(`-d grant_type=${DEVICE_CODE}`);
    for (const other of ['redirect_uri', '| authorization URL', 'PKCE'])
      expect(markdown).not.toContain(other);
  });

  it('registers a client with both grants; the device grant can be removed and added again', async () => {
    const { client_id: id } = await createDevice('--grant', 'device', '--redirect-uri', LOOPBACK);
    expect(await shown(id)).toMatchObject({ grant_types: ['authorization_code', DEVICE_CODE] });
    const { stdout: markdown } = await client(['handover', id]);
    for (const type of ['authorization_code', DEVICE_CODE])
      expect(markdown).toContain(`-d grant_type=${type}`);
    await client(['update', id, '--grant', 'code']);
    expect((await client(['handover', id])).stdout).not.toContain(DEVICE_CODE);
    expect(await shown(id)).not.toHaveProperty('grant_types');
    await client(['update', id, '--grant', 'device']);
    expect(await shown(id)).toMatchObject({ grant_types: ['authorization_code', DEVICE_CODE] });
  });

  it.each<[RegExp, readonly string[]]>([
    [/a redirect URI is missing/, ['--grant', 'code']],
    [/a redirect URI is missing: the subjects/, ['--grant', 'device', '--subject', 'pairwise']],
    [/--grant must be/, ['--grant', 'password']],
  ])('refuses invalid input with the error %s', async (problem, args) => {
    expectRefused(await client(['create', '--name', 'Display', '--public', ...args]), problem);
  });

  it('registers a client that cannot get another grant or pairwise subjects without a redirect URI', async () => {
    const { client_id: id } = await createDevice('--grant', 'device');
    expectRefused(await client(['update', id, '--grant', 'code']), /a redirect URI is missing/);
    expectRefused(await client(['update', id, '--subject', 'pairwise']), /redirect URI is missing/);
  });
});

it('a client file contains the device grant', async () => {
  const { client_id: id } = await createDevice('--grant', 'device');
  const { stdout: exported } = await client(['export']);
  expect(exported).toContain(`- ${DEVICE_CODE}`);
  const renamed = exported.replaceAll(id, `${id.slice(0, -1)}${id.endsWith('a') ? 'b' : 'a'}`);
  expect((await client(['import', '-'], {}, renamed)).code).toBe(0);
  expectRefused(
    await client(['import', '-'], {}, renamed.replaceAll(DEVICE_CODE, 'password')),
    /grant_types/,
  );
});
