import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { expectRefused, jsonOf, useOperator } from '../support/use-operator.js';

const CALLBACK = 'https://app.example.com/callback';
const GIVEN = ['--name', 'Signing Calendar', '--redirect-uri', CALLBACK, '--json'];

const operator = useOperator();
const client = (...args: string[]) => operator.run(['client', ...args]);

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const other = generateKeyPairSync('ed25519').publicKey;
const jwk = (key: KeyObject, members: object = {}) => ({ ...key.export({ format: 'jwk' }), ...members });

let folder: string;
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-keys-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(content: unknown): Promise<string> {
  const path = join(folder, `${++count}.json`);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const oneKey = () => file({ keys: [jwk(publicKey, { kid: 'a', alg: 'ES256', use: 'sig', note: 'mine' })] });

async function create(...args: string[]): Promise<Record<string, unknown> & { client_id: string }> {
  return jsonOf(await client('create', ...GIVEN, ...args)) as { client_id: string };
}

describe('operator client create with keys', () => {
  it('prints how to authenticate instead of a secret, and stores only public members', async () => {
    const made = await create('--jwks', await oneKey());
    expect(made).toMatchObject({
      client_secret: null,
      auth_method: 'private_key_jwt',
      assertion_audience: 'https://api.example.com',
      keys: [expect.stringMatching(/^a=[\w-]{43}$/)],
    });
    const [row] = await operator.rows<{ jwks: object }>('SELECT jwks FROM clients WHERE client_id = $1', [
      made.client_id,
    ]);
    expect(row?.jwks).toEqual({ keys: [jwk(publicKey, { kid: 'a', alg: 'ES256' })] });
    expect(
      await operator.rows('SELECT 1 FROM client_secrets WHERE client_id = $1', [made.client_id]),
    ).toEqual([]);
    const shown = await client('show', made.client_id);
    expect(shown.stdout).toMatch(/^auth_method +private_key_jwt$/m);
    const text = await client('create', ...GIVEN.slice(0, -1), '--jwks', await oneKey());
    expect(text.stdout).toMatch(/^client_secret +none: it signs assertions$/m);
    expect(text.stdout).not.toContain('only once');
  });

  it('registers a jwks_uri', async () => {
    const { client_id: id } = await create('--jwks-uri', 'https://app.example.com/jwks.json');
    expect(jsonOf(await client('show', id, '--json'))).toMatchObject({
      auth_method: 'private_key_jwt',
      jwks_uri: 'https://app.example.com/jwks.json',
      live_secrets: 0,
    });
  });

  it.each<[RegExp, () => unknown]>([
    [/key 1 contains a private key/, () => ({ keys: [jwk(privateKey)] })],
    [/key 2 is a shared secret/, () => ({ keys: [jwk(publicKey), { kty: 'oct', k: 'c2VjcmV0' }] })],
    [/must be a JWK Set/, () => jwk(publicKey)],
    [/not valid JSON/, () => '{'],
    [/contains no key/, () => ({ keys: [] })],
    [
      /more than 10 keys/,
      () => ({ keys: Array.from({ length: 11 }, (_, index) => jwk(publicKey, { kid: `${index}` })) }),
    ],
    [/same kid/, () => ({ keys: [jwk(publicKey, { kid: 'a' }), jwk(other, { kid: 'a' })] })],
    [/alg that is not one of/, () => ({ keys: [jwk(publicKey, { alg: 'HS256' })] })],
    [/its use must be sig/, () => ({ keys: [jwk(publicKey, { use: 'enc' })] })],
    [/cannot be imported/, () => ({ keys: [{ ...jwk(publicKey), x: 'AAAA' }] })],
    [/longer than 65536/, () => ' '.repeat(300_000)],
  ])('refuses a file with the problem %s, and writes nothing', async (problem, content) => {
    const before = await operator.counts();
    expectRefused(await client('create', ...GIVEN, '--jwks', await file(content())), problem);
    expect(await operator.counts()).toEqual(before);
  });

  it('refuses contradictory options, an unreadable file and invalid URLs', async () => {
    const path = await oneKey();
    const refused = async (...args: string[]) => client('create', ...GIVEN, ...args);
    expectRefused(
      await refused('--jwks', path, '--jwks-uri', 'https://a.example.com/'),
      /exclude each other/,
    );
    expectRefused(await refused('--public', '--jwks', path), /public client cannot keep a private key/);
    expectRefused(await refused('--jwks', join(folder, 'missing')), /cannot be read/);
    for (const uri of [
      'http://app.example.com/',
      'https://u:p@app.example.com/',
      'file:///etc/passwd',
      'https://a.example/#b',
    ])
      expectRefused(await refused('--jwks-uri', uri), /must be an https URL/);
  });
});

describe('an application', () => {
  it('with keys cannot have a secret', async () => {
    const { client_id: id } = await create('--jwks', await oneKey());
    for (const args of [
      ['rotate', id],
      ['list', id],
      ['revoke', id, '6f1c8a52-0d3b-4f6e-9a41-7b2d5c9e8f10'],
    ])
      expectRefused(
        await client('secret', ...args),
        /authenticates with its keys[^]*client update sc_\w+ --jwks none/,
      );
  });

  it('with a live secret cannot have keys', async () => {
    const { client_id: id } = await create();
    const path = await oneKey();
    expectRefused(await client('update', id, '--jwks', path), /has a secret, and may not have keys as well/);
    const [secret] = jsonOf(await client('secret', 'list', id, '--json')) as [{ id: string }];
    await client('secret', 'revoke', id, secret.id, '--force');
    expect(jsonOf(await client('update', id, '--jwks', path, '--json'))).toMatchObject({
      auth_method: 'private_key_jwt',
    });
    const back = await client('update', id, '--jwks', 'none');
    expect(back.stdout).toMatch(/It cannot authenticate. Create a secret:[^]*client secret rotate/);
    expect((await client('secret', 'rotate', id)).code).toBe(0);
  });

  it('that is public cannot have keys', async () => {
    const { client_id: id } = await create('--public');
    expectRefused(
      await client('update', id, '--jwks', await oneKey()),
      /a public client cannot keep a private key/,
    );
  });

  it('rotates its keys through a set with both keys', async () => {
    const { client_id: id } = await create('--jwks', await oneKey());
    const both = await file({ keys: [jwk(publicKey, { kid: 'a' }), jwk(other, { kid: 'b' })] });
    const keys = async (path: string) =>
      (jsonOf(await client('update', id, '--jwks', path, '--json')) as { keys: string[] }).keys.map(
        (key) => key[0],
      );
    expect(await keys(both)).toEqual(['a', 'b']);
    expect(await keys(await file({ keys: [jwk(other, { kid: 'b' })] }))).toEqual(['b']);
    await client('update', id, '--jwks-uri', 'https://app.example.com/jwks.json');
    const shown = jsonOf(await client('show', id, '--json'));
    expect(shown).toMatchObject({ jwks_uri: 'https://app.example.com/jwks.json' });
    expect(shown).not.toHaveProperty('keys');
  });

  it('gets and loses single keys', async () => {
    const { client_id: id } = await create('--jwks', await oneKey());
    const added = await file(jwk(other, { kid: 'b' }));
    expect(jsonOf(await client('update', id, '--add-key', added, '--json'))).toMatchObject({
      keys: [expect.stringMatching(/^a=/), expect.stringMatching(/^b=/)],
    });
    expectRefused(await client('update', id, '--add-key', added), /is registered already/);
    expectRefused(await client('update', id, '--add-key', await file('{')), /--add-key is not valid JSON/);
    expectRefused(
      await client('update', id, '--add-key', join(folder, 'missing')),
      /--add-key cannot be read/,
    );
    expectRefused(await client('update', id, '--remove-key', 'c'), /"c" is not registered/);
    expectRefused(
      await client('update', id, '--remove-key', 'a', '--remove-key', 'b'),
      /no key would be left/,
    );
    expectRefused(await client('update', id, '--remove-key', 'a', '--jwks', added), /exclude each other/);
    const replaced = await client('update', id, '--remove-key', 'b', '--add-key', added, '--json');
    expect(jsonOf(replaced)).toMatchObject({ keys: [expect.anything(), expect.stringMatching(/^b=/)] });
  });

  it('is exported and imported with its keys', async () => {
    const { client_id: id } = await create('--jwks', await oneKey());
    const path = join(folder, 'export.yaml');
    await client('export', id, '--output', path);
    const text = await readFile(path, 'utf8');
    expect(text).toContain('jwks:');
    expect(text).not.toMatch(/^ +secrets:/m);
    expect(jsonOf(await client('import', path, '--json'))).toMatchObject({ unchanged: 1, updated: [] });
    await operator.rows('UPDATE clients SET jwks = NULL WHERE client_id = $1', [id]);
    expect(jsonOf(await client('import', path, '--json'))).toMatchObject({
      updated: [{ client_id: id, fields: ['jwks', 'secrets'] }],
    });
    const withSecret = `${text}    secrets:\n      - { id: 6f1c8a52-0d3b-4f6e-9a41-7b2d5c9e8f10, sha256: ${'a'.repeat(64)} }\n`;
    expectRefused(
      await client('import', await file(withSecret)),
      /line \d+: secrets: an application with keys has none/,
    );
    const withPrivateKey = text.replace('kty: EC', 'kty: EC\n          d: AAAA');
    expectRefused(
      await client('import', await file(withPrivateKey)),
      /line \d+: jwks .*contains a private key/,
    );
  });

  it('moves from secrets to keys in one import', async () => {
    const { client_id: id } = await create();
    const { clients } = jsonOf(await client('export', id, '--json')) as { clients: [object] };
    const moved = { version: 1, clients: [{ ...clients[0], secrets: [], jwks: { keys: [jwk(publicKey)] } }] };
    expect(jsonOf(await client('import', await file(moved), '--json'))).toMatchObject({
      updated: [{ client_id: id, fields: ['jwks', 'secrets'] }],
    });
    expect(jsonOf(await client('show', id, '--json'))).toMatchObject({
      auth_method: 'private_key_jwt',
      live_secrets: 0,
    });
  });

  it('has a hand-over text that explains how to authenticate', async () => {
    const { client_id: id } = await create('--jwks-uri', 'https://app.example.com/jwks.json');
    const env = { ...operator.env, API_URL: 'https://api.example.com' };
    const { stdout: markdown } = await operator.run(['client', 'handover', id], env);
    for (const part of [
      'private_key_jwt',
      '`https://api.example.com`',
      '`ES256`',
      'https://app.example.com/jwks.json',
      'client_assertion=$ASSERTION',
    ])
      expect(markdown).toContain(part);
    expect(markdown).not.toContain('CLIENT_SECRET');
  });
});

describe('operator resource-server with keys', () => {
  it('creates an account without a secret, lists its authentication method, and replaces its keys', async () => {
    const made = jsonOf(
      await operator.run([
        'resource-server',
        'create',
        '--name',
        'Bookings',
        '--jwks',
        await oneKey(),
        '--json',
      ]),
    ) as { id: string };
    expect(made).toMatchObject({ secret: null, auth_method: 'private_key_jwt', keys: [expect.any(String)] });
    const listed = jsonOf(await operator.run(['resource-server', 'list', '--json']));
    expect(listed).toEqual([expect.objectContaining({ id: made.id, auth_method: 'private_key_jwt' })]);
    const update = ['resource-server', 'update', made.id, '--jwks-uri', 'https://api.example.com/jwks.json'];
    const { keys, jwks_uri: uri } = jsonOf(await operator.run([...update, '--json'])) as Record<
      string,
      unknown
    >;
    expect([keys, uri]).toEqual([undefined, 'https://api.example.com/jwks.json']);
  });
});

describe('operator client create --profile fapi2', () => {
  it('requires keys, and sets the values that the profile requires', async () => {
    expectRefused(await client('create', ...GIVEN, '--profile', 'fapi2'), /needs --jwks or --jwks-uri/);
    expectRefused(
      await client('create', ...GIVEN, '--profile', 'fapi1'),
      /fapi1.* is unknown: it must be fapi2/,
    );
    const made = await create('--profile', 'fapi2', '--jwks', await oneKey());
    expect(made).toHaveProperty('par_url');
    expect(jsonOf(await client('show', made.client_id, '--json'))).toMatchObject({
      profile: 'fapi2',
      require_par: true,
      require_state: false,
      dpop_bound_access_tokens: true,
      refresh_token_rotation: false,
      // Section 5.4.1 of FAPI 2.0 does not permit RS256.
      id_token_alg: 'ES256',
    });
    const withRsa = ['--profile', 'fapi2', '--jwks', await oneKey(), '--id-token-alg', 'RS256'];
    expectRefused(await client('create', ...GIVEN, ...withRsa), /FAPI 2.0 5.4.1/);
    for (const change of [
      ['--id-token-alg', 'RS256'],
      ['--require-par', 'false'],
      ['--dpop-bound', 'false'],
      ['--refresh-token-rotation', 'on'],
      ['--jwks', 'none'],
    ])
      expectRefused(await client('update', made.client_id, ...change), /fapi2|--dpop-bound/);
    const path = join(folder, 'fapi.yaml');
    await client('export', made.client_id, '--output', path);
    expect(jsonOf(await client('import', path, '--json'))).toMatchObject({ unchanged: 1, updated: [] });
  });
});

describe('operator client --refresh-token-rotation off', () => {
  it('requires --dpop-bound', async () => {
    const refused = await client('create', ...GIVEN, '--refresh-token-rotation', 'off');
    expectRefused(refused, /needs --dpop-bound/);
    const { client_id: id } = await create();
    expectRefused(await client('update', id, '--refresh-token-rotation', 'off'), /needs --dpop-bound/);
    const args = ['--dpop-bound', 'true', '--refresh-token-rotation', 'off', '--json'];
    expect(jsonOf(await client('update', id, ...args))).toMatchObject({ refresh_token_rotation: false });
    expectRefused(await client('update', id, '--dpop-bound', 'false'), /needs --dpop-bound/);
    const back = await client(
      'update',
      id,
      '--refresh-token-rotation',
      'on',
      '--dpop-bound',
      'false',
      '--json',
    );
    expect(jsonOf(back)).not.toHaveProperty('dpop_bound_access_tokens');
  });
});
