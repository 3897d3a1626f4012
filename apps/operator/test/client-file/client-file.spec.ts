import { randomUUID } from 'node:crypto';
import {
  chmod,
  lstat,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { DataSource } from 'typeorm';
import { ClientStore } from '#clients/client.store.js';
import { generateClientId, matchClientSecret } from '#oauth/oauth-client.js';
import { databaseDataSource } from '#database/data-source.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { runOperator } from '../support/run-operator.js';
import { expectRefused, jsonOf, useOperator } from '../support/use-operator.js';

const CALLBACK = 'https://app.example.com/callback';

const operator = useOperator();
const other = useOperator();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'operator-file-'));
});

afterAll(() => rm(folder, { recursive: true }));

const client = (...args: string[]) => operator.run(['client', ...args]);
const importText = (text: string, ...args: string[]) =>
  operator.run(['client', 'import', '-', ...args], undefined, text);
const exported = async (...ids: string[]): Promise<string> => (await client('export', ...ids)).stdout;

interface Registered {
  client_id: string;
  client_secret: string;
}

async function create(...args: string[]): Promise<Registered> {
  const given = ['--name', 'Calendar', '--redirect-uri', CALLBACK, '--json'];
  return jsonOf(await client('create', ...given, ...args)) as Registered;
}

const fileOf = (fields: string): string =>
  `version: 1\nclients:\n  - ${fields.trim().replaceAll('\n', '\n    ')}\n`;

const minimal = (id: string, more = ''): string =>
  fileOf(
    `client_id: ${id}\nname: Notes\ntype: confidential\nredirect_uris: [${CALLBACK}]\nscopes: [profile:read]\n${more}`,
  );

const stored = () =>
  operator.rows(
    `SELECT (SELECT json_agg(c ORDER BY client_id) FROM clients c) AS clients,
            (SELECT json_agg(s ORDER BY id) FROM client_secrets s) AS secrets`,
  );

const LINKS =
  '--client-uri https://app.example.com/ --policy-uri https://app.example.com/privacy --contacts help@example.com';

async function withEverything(): Promise<Registered> {
  const logo = join(folder, 'logo.png');
  await sharp({ create: { width: 64, height: 64, channels: 3, background: 'green' } })
    .png()
    .toFile(logo);
  const scopes = ['--scope', 'profile:read bookings:read', '--optional-scope', 'bookings:read'];
  const registered = await create(
    ...scopes,
    '--logo',
    logo,
    '--require-par',
    '--state',
    'optional',
    '--first-party',
    ...LINKS.split(' '),
  );
  await client('secret', 'rotate', registered.client_id);
  await client('disable', registered.client_id);
  return registered;
}

describe('operator client export', () => {
  it('prints all fields of a client as sorted, reproducible YAML, without secrets', async () => {
    const { client_id: id, client_secret: secret } = await withEverything();
    await create('--public');
    const text = await exported();
    expect(await exported()).toBe(text);
    expect(text).not.toContain(secret);
    expect(text).not.toContain('scs_');
    const ids = [...text.matchAll(/^ {2}- client_id: (\S+)$/gm)].map(([, id = '']) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(await exported(id)).toMatch(
      new RegExp(
        `^  - client_id: ${id}
    name: Calendar
    type: confidential
    redirect_uris:
      - ${CALLBACK}
    private_schemes: \\[\\]
    scopes:
      - profile:read
      - bookings:read
    optional_scopes:
      - bookings:read
    require_par: true
    require_state: false
    first_party: true
    developer_portal: false
    id_token_alg: RS256
    subject: public
    post_logout_redirect_uris: \\[\\]
    backchannel_logout_uri: null
    client_uri: https://app.example.com/
    policy_uri: https://app.example.com/privacy
    contacts:
      - help@example.com
    disabled: true
    created_at: \\d{4}-.*Z
    secrets:
      - id: [0-9a-f-]{36}
        sha256: "?[0-9a-f]{64}"?
        created_on: \\d{4}-\\d\\d-\\d\\d
      - id: .*
        sha256: .*
        created_on: .*
    logo:
      media_type: image/png
      image: \\|
        [A-Za-z0-9+/=\\s]+$`,
        'm',
      ),
    );
  });

  it('writes a private file or prints JSON, and refuses an unknown client', async () => {
    const { client_id: id } = await create();
    const file = join(folder, 'clients.yaml');
    expect((await client('export', id, '--output', file)).stdout).toBe(`Wrote 1 application to ${file}\n`);
    expect(await readFile(file, 'utf8')).toBe(await exported(id));
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(jsonOf(await client('export', id, '--json'))).toMatchObject({
      version: 1,
      clients: [{ client_id: id, disabled: false, logo: null }],
    });
    expectRefused(await client('export', id, 'sc_unknown'), /no client "sc_unknown"/);
  });
});

describe('operator client export --output', () => {
  const target = () => join(folder, `${randomUUID()}.yaml`);
  const write = (file: string, ...more: string[]) => client('export', '--output', file, ...more);
  const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

  beforeAll(() => create());

  it.each([
    ['with a shell script', '#!/bin/sh\necho hello\n'],
    ['with other YAML', 'version: 1\nclients: []\n'],
  ])('refuses to replace a file %s, unless --force is given', async (_, text) => {
    const file = target();
    await writeFile(file, text, { mode: 0o640 });
    expectRefused(await write(file), /is not an earlier export, and is not overwritten: .* or give --force/);
    expect(await readFile(file, 'utf8')).toBe(text);
    expect(await write(file, '--force')).toMatchObject({ code: 0 });
    expect(await readFile(file, 'utf8')).toBe(await exported());
    expect(await modeOf(file)).toBe(0o640);
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('atomically replaces an earlier export or an empty file, and keeps the mode', async () => {
    for (const text of ['', `${await exported()}# a note\n`]) {
      const file = target();
      await writeFile(file, text);
      await chmod(file, 0o664);
      const reader = await open(file);
      expect(await write(file)).toMatchObject({ code: 0 });
      expect(await readFile(file, 'utf8')).toBe(await exported());
      expect(await modeOf(file)).toBe(0o664);
      expect(await reader.readFile('utf8')).toBe(text);
      await reader.close();
    }
  });

  it('replaces the target of a symbolic link', async () => {
    const [file, alias] = [target(), target()];
    await write(file);
    await symlink(file, alias);
    expect(await write(alias)).toMatchObject({ code: 0 });
    expect((await lstat(alias)).isSymbolicLink()).toBe(true);
    expect(await readFile(file, 'utf8')).toBe(await exported());
  });

  it.each(['/dev/null', '/'])('refuses %s, which is not a file, even with --force', async (file) => {
    expectRefused(await write(file, '--force'), /is not a file: name a file/);
  });
});

describe('operator client import', () => {
  it('creates the exported clients in an empty installation, with working secrets', async () => {
    const { client_id: id, client_secret: secret } = await withEverything();
    const text = await exported();
    expect(await other.rows('SELECT 1 FROM clients')).toEqual([]);
    const done = await other.run(['client', 'import', '-', '--json'], undefined, text);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect((jsonOf(done) as { created: string[] }).created).toContain(id);
    expect((await other.run(['client', 'export'])).stdout).toBe(text);
    const database: DataSource = await databaseDataSource(other.databaseUrl).initialize();
    const found = await new ClientStore(database).findWithHashes(id);
    await database.destroy();
    expect(matchClientSecret(secret, found?.secrets ?? [])).not.toBeNull();
  });

  it('changes nothing if the file is an export of the same installation', async () => {
    await withEverything();
    const before = await stored();
    for (const text of [await exported(), (await client('export', '--json')).stdout]) {
      const done = jsonOf(await importText(text, '--json'));
      expect(done).toMatchObject({ created: [], updated: [], not_in_file: [] });
    }
    expect(await stored()).toEqual(before);
  });

  it('updates and prints only the fields that the file changes', async () => {
    const { client_id: id } = await create('--require-par');
    const { client_id: kept } = await create();
    const edited = (await exported(id))
      .replace('name: Calendar', 'name: Kalender')
      .replace('disabled: false', 'disabled: true')
      .replace(`- ${CALLBACK}`, '- https://new.example.com/callback');
    const shown = await importText(edited);
    expect(shown.stdout).toContain(`updated ${id} (Kalender): name, redirect_uris, disabled`);
    expect(shown.stdout).toContain(`${kept} (Calendar)`);
    expect(jsonOf(await client('show', id, '--json'))).toMatchObject({
      name: 'Kalender',
      redirect_uris: ['https://new.example.com/callback'],
      require_par: true,
      live_secrets: 1,
      disabled_at: expect.any(String),
    });
    const again = await importText(edited.replace('disabled: true', 'disabled: false'), '--json');
    expect(jsonOf(again)).toMatchObject({ updated: [{ client_id: id, fields: ['disabled'] }] });
  });

  it('prints a diff with --dry-run, and changes nothing', async () => {
    const { client_id: id } = await create();
    const before = await stored();
    const edited = (await exported(id)).replace('name: Calendar', 'name: Kalender');
    const added =
      edited +
      fileOf(
        `client_id: sc_new\nname: New\ntype: public\nredirect_uris: [${CALLBACK}]\nscopes: [profile:read]`,
      ).split('clients:\n')[1];
    const { stdout, code } = await importText(added, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain('--- registered\n+++ standard input\n@@ ');
    expect(stdout).toContain('\n-    name: Calendar\n+    name: Kalender\n');
    expect(stdout).toContain('\n+  - client_id: sc_new\n');
    expect(stdout).toContain('Would create 1 application, update 1; 0 stay the same.');
    expect(stdout).not.toContain('\u001b');
    expect(jsonOf(await importText(added, '--dry-run', '--json'))).toMatchObject({
      dry_run: true,
      created: ['sc_new'],
      diff: expect.stringContaining('+    name: Kalender'),
    });
    expect(await stored()).toEqual(before);
  });

  describe('of the application by which operators log in to the console', () => {
    const CONSOLE_URL = 'https://console.example.com';
    const callback = `${CONSOLE_URL}/login/callback`;
    const importConsole = (text: string, ...args: string[]) =>
      operator.run(['client', 'import', '-', ...args], { ...operator.env, CONSOLE_URL }, text);

    it.each<[string, (file: string) => string, string]>([
      ['disables it', (file) => file.replace('disabled: false', 'disabled: true'), 'client enable ID'],
      ['removes its redirect URI', (file) => file.replace(callback, CALLBACK), '--add-redirect-uri'],
      ['requires pushed requests', (file) => file.replace('par: false', 'par: true'), '--require-par false'],
      ['removes a scope of the login', (file) => file.replace(/\n +- openid/, ''), '--add-scope openid'],
    ])('needs a confirmation if it %s, and --dry-run shows the warning', async (_, change, wayBack) => {
      const names = ['--name', 'Console', '--redirect-uri', callback, '--scope', 'openid profile:read'];
      const { client_id: id } = jsonOf(await client('create', ...names, '--json')) as Registered;
      const before = await exported(id);
      const file = change(before);
      const expected = expect.stringContaining(wayBack.replace('ID', id)) as string;
      const preview = await importConsole(file, '--dry-run');
      expect(preview).toMatchObject({ code: 0, stderr: expected });
      const refused = await importConsole(file);
      expectRefused(refused, /--yes is missing/);
      expect(refused.stderr).toEqual(expected);
      expect(await exported(id)).toBe(before);
      expect((await importConsole(file, '--yes')).code).toBe(0);
      expect(await exported(id)).toBe(file);
    });

    it('needs none for another change', async () => {
      const names = ['--name', 'Console', '--redirect-uri', callback];
      const { client_id: id } = jsonOf(await client('create', ...names, '--json')) as Registered;
      const file = (await exported(id)).replace('name: Console', 'name: Operators');
      expect(await importConsole(file, '--dry-run')).toMatchObject({ code: 0, stderr: '' });
      expect((await importConsole(file)).code).toBe(0);
    });
  });

  it('requires NATS, except with --dry-run', async () => {
    const env = { DATABASE_URL: operator.databaseUrl };
    const dry = await operator.run(['client', 'import', '-', '--dry-run'], env, minimal('sc_dry'));
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('Would create 1 application') });
    const real = await operator.run(['client', 'import', '-'], env, minimal('sc_dry'));
    expect(real).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('NATS_URL is missing'),
    });
    expect(await operator.rows("SELECT 1 FROM clients WHERE client_id = 'sc_dry'")).toEqual([]);
  });

  it('revokes secrets that are missing from a list, and keeps all secrets without a list', async () => {
    const { client_id: id } = await create();
    const before = await exported(id);
    await client('secret', 'rotate', id);
    const both = await exported(id);
    expect(jsonOf(await importText(before, '--json'))).toMatchObject({ updated: [{ fields: ['secrets'] }] });
    expect(await exported(id)).toBe(before);
    const revived = await importText(both);
    expectRefused(
      revived,
      /line \d+: secrets: the secret "[0-9a-f-]+" was revoked, and cannot be used again/,
    );
    const without = before.replace(/ {4}secrets:\n(?: {6}.*\n)+/, '');
    expect(jsonOf(await importText(without, '--json'))).toMatchObject({ updated: [], unchanged: 1 });
    const none = before.replace(/ {4}secrets:\n(?: {6}.*\n)+/, '    secrets: []\n');
    expectRefused(await importText(none), /the application could not authenticate: leave "secrets" out/);
  });

  it('records the same events as separate commands', async () => {
    const { client_id: id } = await create();
    const before = await exported(id);
    await client('secret', 'rotate', id);
    const changed = before.replace('disabled: false', 'disabled: true').replace('Calendar', 'Kalender');
    const added = `    secrets:\n      - id: ${randomUUID()}\n        sha256: "${'ab'.repeat(32)}"\n`;
    await importText(changed.replace(/ {4}secrets:\n/, added));
    const imported = (await auditEvents(operator.natsUrl, { clientId: id }, 4)).slice(-4);
    expect(imported.map(({ type }) => type)).toEqual([
      'client.updated',
      'client_secret.rotated',
      'client_secret.revoked',
      'client.disabled',
    ]);
    expect(imported[0]?.changes).toMatchObject({ name: { new: 'Kalender' } });
    expect(imported[3]?.changes).toEqual({ disabled: { old: false, new: true } });
    expect(JSON.stringify(imported)).not.toContain('abab');
  });

  it('creates a client from a handwritten file, and prints the command for a secret', async () => {
    const id = generateClientId();
    const { code, stderr } = await importText(minimal(id));
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining(`Create one:\n  operator client secret rotate ${id}\n`),
    });
    expect(jsonOf(await client('show', id, '--json'))).toMatchObject({
      name: 'Notes',
      scopes: ['profile:read'],
      optional_scopes: [],
      require_par: false,
      require_state: true,
      first_party: false,
      developer_portal: false,
      id_token_alg: 'RS256',
      subject: 'public',
      disabled_at: null,
      live_secrets: 0,
    });
  });

  it('reports every problem in a file with its line, and writes nothing', async () => {
    const { client_id: id } = await create();
    const { client_id: gone } = await create();
    await client('delete', gone, '--yes');
    const before = await stored();
    const text = `\
version: 1
clients:
  - client_id: ${id}
    name: ""
    type: public
    redirect_uris:
      - ${CALLBACK}
      - http://app.example.com/
    scopes: [profile:read, admin]
    optional_scopes: [bookings:read]
    logo: { media_type: image/png, image: aGVsbG8= }
  - client_id: ${gone}
    name: Gone
    type: confidential
    redirect_uris: []
    scopes: [profile:read]
    redirekt_uris: []
    disabled: "yes"
    secrets:
      - { id: 1, sha256: abc }
      - { id: 6f1c8a52-0d3b-4f6e-9a41-7b2d5c9e8f10, sha256: abc }
  - client_id: sc_twice
    name: Twice
    type: public
    redirect_uris: []
    scopes: [profile:read]
  - client_id: sc_twice
    name: Twice
    type: public
    redirect_uris: [com.example.app:/cb]
    scopes: [profile:read]
`;
    const { code, stdout, stderr } = await importText(text);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const [line, problem] of [
      [4, /name must be 1 to 100/],
      [5, /type is confidential, and cannot be changed/],
      [8, /redirect_uris "http:\/\/app.example.com\/" is not encrypted/],
      [9, /scopes "admin" is unknown: the scopes are/],
      [10, /optional_scopes "bookings:read" is not among/],
      [11, /logo is not a complete PNG/],
      [12, /client_id was deleted/],
      [17, /redirekt_uris is not a field/],
      [18, /disabled must be true or false/],
      [20, /id must be a UUID/],
      [20, /sha256 must be 64/],
      [21, /sha256 must be 64/],
      [25, /a redirect URI is missing/],
      [27, /client_id "sc_twice" is in the file twice/],
    ] as const)
      expect(stderr).toMatch(new RegExp(`^error: line ${line}: .*${problem.source}`, 'm'));

    expect(stderr.match(/^error: /gm)).toHaveLength(14);
    expect(await stored()).toEqual(before);
  });

  it.each([
    ['not YAML', 'version: 1\nclients: [', /^error: line 2: /m],
    ['a repeated key', 'version: 1\nversion: 1\nclients: []', /^error: line 2: Map keys must be unique/m],
    ['text', 'hello', /^error: line 1: it must be a map with version: 1/m],
    ['another version', 'version: 2\nclients: []', /^error: line 1: version must be 1/m],
    ['no clients', 'version: 1', /^error: line 1: clients must be a list/m],
    [
      'an alias of the list that contains it',
      'version: 1\nclients: &a [*a]',
      /^error: line 2: a client must be a map/m,
    ],
    [
      'aliases that expand to 2^40 values',
      aliasBomb(40),
      /^error: line 1: it must be a map with version: 1/m,
    ],
    ['aliases in unknown fields', `a: &a [x,x]\nb: &b [*a,*a]\nversion: 1\nclients: 7`, /a is not a field/],
  ])('refuses a malformed file: %s', async (_, text, problem) => {
    expectRefused(await importText(text), problem);
  });

  it.each(['latin1', 'utf16le'] as const)(
    'refuses a file in %s, which a decoder would change silently',
    async (encoding) => {
      const path = join(operator.localDir, 'clients.yaml');
      await writeFile(path, 'version: 1\nclients: [] # é', encoding);
      expectRefused(await operator.run(['client', 'import', path]), /is not UTF-8/);
    },
  );

  it('refuses a secret id of another client or with another hash', async () => {
    const [mine, theirs] = [await create(), await create()];
    const [own = '', id = ''] = /id: ([0-9a-f-]{36})/.exec(await exported(theirs.client_id)) ?? [];
    expect(own).not.toBe('');
    const taken = (await exported(mine.client_id)).replace(/id: [0-9a-f-]{36}/, `id: ${id}`);
    expectRefused(await importText(taken), /belongs to another secret/);
    const changed = (await exported(mine.client_id)).replace(
      /sha256: "?[0-9a-f]{64}"?/,
      `sha256: "${'0'.repeat(64)}"`,
    );
    expectRefused(await importText(changed), /has another hash/);
  });

  it('applies concurrent imports of the same new clients one after the other', async () => {
    const ids = Array.from({ length: 20 }, () => generateClientId());
    const named = (name: string) =>
      `version: 1\nclients:\n${ids.map((id) => `  - { client_id: ${id}, name: ${name}, type: public, redirect_uris: [${CALLBACK}], scopes: [profile:read] }`).join('\n')}\n`;
    const file = async (name: string) => {
      await writeFile(join(folder, name), named(name));
      return join(folder, name);
    };
    const [one, two] = [await file('one'), await file('two')];
    const outcomes = await Promise.all([
      runOperator(['client', 'import', one, '--json'], operator.env),
      runOperator(['client', 'import', two, '--json'], operator.env),
    ]);
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0]);
    const created = outcomes.map((outcome) => (jsonOf(outcome) as { created: string[] }).created.length);
    expect(new Set(created)).toEqual(new Set([0, 20]));
    const names = await operator.rows<{ name: string }>(
      'SELECT DISTINCT name FROM clients WHERE client_id = ANY($1)',
      [ids],
    );
    expect(names).toEqual([{ name: created[0] === 0 ? 'one' : 'two' }]);
  });
});

/** Returns YAML whose aliases repeat one value two to the power of `depth` times. */
function aliasBomb(depth: number): string {
  const lists = Array.from({ length: depth }, (_, n) => `  - &a${n + 1} [*a${n}, *a${n}]`);
  return ['version: 1', 'clients:', '  - &a0 [x]', ...lists].join('\n');
}

describe('the receiver of events', () => {
  const URL_OF_EVENTS = 'https://app.example.com/events';

  it('is exported without its header, and imported', async () => {
    const { client_id: id } = await create();
    await operator.rows(
      `INSERT INTO event_streams (client_id, delivery, endpoint_url, authorization_header, events_requested, status)
       VALUES ('${id}', 'push', '${URL_OF_EVENTS}', 'sealed', '{tokens-revoked}', 'paused')`,
    );
    const text = await exported(id);
    expect(text).toContain(`    events_url: ${URL_OF_EVENTS}\n    events:\n      - tokens-revoked\n`);
    expect(text).toMatch(/header.*is a secret and not in this file/);
    expect(text).not.toMatch(/sealed|paused/);
    const streamAt = (installation: typeof operator) =>
      installation.rows(
        `SELECT endpoint_url, events_requested, status, authorization_header IS NOT NULL AS sealed
         FROM event_streams WHERE client_id = '${id}'`,
      );
    await other.run(['client', 'import', '-'], undefined, text);
    const imported = { endpoint_url: URL_OF_EVENTS, events_requested: ['tokens-revoked'] };
    expect(await streamAt(other)).toEqual([{ ...imported, status: 'enabled', sealed: false }]);
    expect((await importText(text)).stdout).toContain('1 stayed the same');
    const more = text.replace('- tokens-revoked', '- tokens-revoked\n      - account-disabled');
    expect(await importText(more)).toMatchObject({ code: 0, stderr: '' });
    const both = ['tokens-revoked', 'account-disabled'];
    expect(await streamAt(operator)).toEqual([
      { ...imported, events_requested: both, status: 'paused', sealed: true },
    ]);
    await importText(text.replace(URL_OF_EVENTS, `${URL_OF_EVENTS}/new`));
    expect(await streamAt(operator)).toEqual([
      { ...imported, endpoint_url: `${URL_OF_EVENTS}/new`, status: 'paused', sealed: false },
    ]);
  });

  it('stays without members, and is refused with the line of the mistake', async () => {
    const { client_id: id } = await create();
    expectRefused(await importText(minimal(id, 'events: [tokens-revoked]')), /line \d+.*events_url/);
    expectRefused(await importText(minimal(id, 'events_url: http://app.example.com/')), /line 8.*https/);
    expectRefused(
      await importText(minimal(id, `events_url: ${URL_OF_EVENTS}\nevents: [unknown]`)),
      /line 9.*unknown/,
    );
  });
});
