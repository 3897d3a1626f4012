import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { SUBJECTS } from '#messaging/contract.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { runOperator } from '../support/run-operator.js';
import { expectRefused, jsonOf, useOperator, withoutIds } from '../support/use-operator.js';

interface Secret {
  id: string;
  created_at: string;
  last_used_at: string | null;
}
interface Rotated {
  client_secret: string;
  secret_id: string;
  secrets: Secret[];
}

const CALLBACK = 'https://app.example.com/callback';

const operator = useOperator();

const client = (...args: string[]) => operator.run(['client', ...args]);

async function create(...args: string[]): Promise<string> {
  const given = ['--name', 'Calendar', '--redirect-uri', CALLBACK, '--json'];
  return (jsonOf(await client('create', ...given, ...args)) as { client_id: string }).client_id;
}

const show = async (id: string) => jsonOf(await client('show', id, '--json')) as Record<string, unknown>;

/** Returns the broadcasts of changed clients that `work` causes. */
async function broadcastsOf(work: () => Promise<unknown>): Promise<unknown[]> {
  const nats = await connect(natsOptions(operator.natsUrl, 'test'));
  const broadcasts: unknown[] = [];
  nats.subscribe(SUBJECTS.clientChanged, { callback: (_, message) => void broadcasts.push(message.json()) });
  await nats.flush();
  await work();
  await nats.flush();
  await nats.close();
  return broadcasts;
}

describe('operator client create --scope', () => {
  it('accepts repeated and space-separated scopes, and removes duplicates', async () => {
    const id = await create('--scope', 'bookings:read profile:read');
    const repeated = await create('--scope', 'bookings:read', '--scope', 'profile:read bookings:read');
    const absent = await create();
    expect((await show(id))['scopes']).toEqual(['bookings:read', 'profile:read']);
    expect((await show(repeated))['scopes']).toEqual(['bookings:read', 'profile:read']);
    expect((await show(absent))['scopes']).toEqual(['profile:read']);
  });

  it('refuses unknown and empty scopes, and lists the known scopes', async () => {
    const before = await operator.counts();
    const given = ['--name', 'A', '--redirect-uri', CALLBACK];
    const unknown = await client('create', ...given, '--scope', 'profile:read admin');
    const empty = await client('create', ...given, '--scope', ' ');
    expectRefused(unknown, /--scope "admin" is unknown: the scopes are .*profile:read .*bookings:write/);
    expectRefused(empty, /a scope is missing/);
    expect(await operator.counts()).toEqual(before);
  });
});

describe('the log-out addresses of a client', () => {
  const AFTER = ['https://app.example.com/after', 'https://app.example.com/bye'] as const;
  const given = (...uris: readonly string[]) => uris.flatMap((uri) => ['--post-logout-redirect-uri', uri]);

  it('are registered, replaced and removed', async () => {
    const hook = 'https://app.example.com/logout-token';
    const id = await create(...given(...AFTER), '--backchannel-logout-uri', hook);
    expect(await show(id)).toMatchObject({
      post_logout_redirect_uris: AFTER,
      backchannel_logout_uri: hook,
    });
    jsonOf(await client('update', id, ...given(AFTER[1]), '--json'));
    expect(await show(id)).toMatchObject({
      post_logout_redirect_uris: [AFTER[1]],
      backchannel_logout_uri: hook,
    });
    const none = [...given('none'), '--backchannel-logout-uri', 'none', '--json'];
    jsonOf(await client('update', id, ...none));
    expect(await show(id)).toMatchObject({ post_logout_redirect_uris: [], backchannel_logout_uri: null });
  });

  it.each([
    ['--post-logout-redirect-uri', 'http://app.example.com/after', /is not encrypted/],
    ['--post-logout-redirect-uri', 'https://app.example.com/#x', /has a fragment/],
    ['--backchannel-logout-uri', 'http://app.example.com/hook', /is not encrypted/],
    ['--backchannel-logout-uri', 'com.example.app:/hook', /has the scheme/],
    ['--backchannel-logout-uri', 'https://a:b@app.example.com/hook', /has a user name or password/],
  ])('are refused: %s %s', async (option, uri, problem) => {
    const id = await create();
    expectRefused(await client('update', id, option, uri, '--json'), problem);
  });
});

describe('operator client update', () => {
  const update = (id: string, ...args: string[]) => client('update', id, ...args);
  const scopesOf = async (id: string) => (await show(id))['scopes'];

  it('adds and removes scopes, and keeps the other scopes', async () => {
    const id = await create('--scope', 'profile:read bookings:read', '--optional-scope', 'bookings:read');
    await update(id, '--add-scope', 'bookings:write', '--add-scope', 'schedules:read schedules:write');
    expect(await scopesOf(id)).toEqual([
      'profile:read',
      'bookings:read',
      'bookings:write',
      'schedules:read',
      'schedules:write',
    ]);
    await update(id, '--remove-scope', 'bookings:read schedules:write', '--remove-scope', 'schedules:read');
    expect(await show(id)).toMatchObject({ scopes: ['profile:read', 'bookings:write'], optional_scopes: [] });
  });

  it('keeps both changes when two operators change different scopes concurrently', async () => {
    const id = await create('--scope', 'profile:read bookings:read');
    await Promise.all([
      runOperator(['client', 'update', id, '--add-scope', 'bookings:write'], operator.env),
      runOperator(['client', 'update', id, '--remove-scope', 'bookings:read'], operator.env),
    ]);
    expect(await scopesOf(id)).toEqual(['profile:read', 'bookings:write']);
  });

  it('prints the scopes that --scope removes or makes required', async () => {
    const id = await create('--scope', 'profile:read bookings:read', '--optional-scope', 'profile:read');
    const { stdout } = await update(id, '--scope', 'profile:read bookings:write', '--optional-scope', 'none');
    expect(stdout).toContain('\nIt may no longer request bookings:read: what users granted stays.\n');
    expect(stdout).toContain('\nUsers may no longer decline profile:read.\n');
    const added = await update(id, '--add-scope', 'bookings:read');
    expect(added.stdout).not.toMatch(/no longer/);
  });

  it('refuses options that change nothing, are unknown or contradict each other', async () => {
    const id = await create();
    const before = await show(id);
    const wrong: [string[], RegExp][] = [
      [['--add-scope', 'profile:read'], /--add-scope "profile:read" is registered already/],
      [['--add-scope', 'admin'], /--add-scope "admin" is unknown: the scopes are .*profile:read/],
      [['--remove-scope', 'bookings:read'], /--remove-scope "bookings:read" is not registered/],
      [['--remove-scope', 'profile:read'], /a scope is missing/],
      [
        ['--scope', 'profile:read', '--add-scope', 'bookings:read'],
        /--scope and --add-scope, --remove-scope exclude each other/,
      ],
    ];
    for (const [args, problem] of wrong) expectRefused(await update(id, ...args), problem);
    expect(await show(id)).toEqual(before);
  });
});

describe('operator scope list', () => {
  const list = (...args: string[]) => operator.run(['scope', 'list', ...args]);

  it('lists the scopes of the file and its SHA-256', async () => {
    const listed = jsonOf(await list('--json')) as { file: string; sha256: string; scopes: object[] };
    const bytes = await readFile(listed.file);
    expect(listed.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(listed.scopes).toContainEqual(
      expect.objectContaining({ name: 'profile:read', default: true, resource: null }),
    );
    expect((await list()).stdout).toMatch(
      /^bookings:write +write +no +API_URL +Create, reschedule and cancel bookings/m,
    );
  });

  it('checks SCOPES_FILE, which client create also uses', async () => {
    const file = join(operator.localDir, 'notes.yaml');
    const env = { ...operator.env, SCOPES_FILE: file };
    await writeFile(file, 'scopes: [{ name: notes, default: true, text: { en: Read notes } }]');
    const listed = await operator.run(['scope', 'list'], env);
    expect(listed.stdout).toMatch(/^notes +write +yes +API_URL +Read notes$/m);
    expect(listed.stderr).toMatch(
      /^warning: the consent page shows English .*: notes \(de, fr, es, pt, ja, ar\)/,
    );
    const given = ['client', 'create', '--name', 'A', '--redirect-uri', CALLBACK, '--json'];
    const { client_id } = jsonOf(await operator.run(given, env)) as { client_id: string };
    expect((await show(client_id))['scopes']).toEqual(['notes']);
    const refused = await operator.run([...given, '--scope', 'profile:read'], env);
    expectRefused(
      refused,
      /"error":"--scope \\"profile:read\\" is unknown: the scopes are openid profile email notes"/,
    );
    await writeFile(file, 'scopes: [{ name: notes, text: {} }, { name: a b }]');
    const wrong = await operator.run(['scope', 'list'], env);
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(/notes: it has no English text[^]*scope 2: its name/),
    ]);
  });

  it('refuses an API that is missing from OTHER_API_URLS', async () => {
    const file = join(operator.localDir, 'other.yaml');
    const other = 'https://notes.example.com';
    const env = { ...operator.env, SCOPES_FILE: file, API_URL: 'https://api.example.com' };
    const run = (more: NodeJS.ProcessEnv) => operator.run(['scope', 'list'], { ...env, ...more });
    await writeFile(
      file,
      `scopes: [{ name: notes, default: true, resource: ${other}, text: { en: Read notes } }]`,
    );
    const refused = `notes: its resource ${other} is neither API_URL nor one of OTHER_API_URLS`;
    const wrong = await run({ OTHER_API_URLS: 'https://bookings.example.com' });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining(refused) });
    const right = await run({ OTHER_API_URLS: `https://bookings.example.com, ${other}` });
    expect(right).toMatchObject({ code: 0, stderr: expect.not.stringContaining('OTHER_API_URLS') });
    const unknown = await run({});
    expect(unknown).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^warning: .* OTHER_API_URLS; .*: notes \(https:\/\/notes\.example\.com\)$/m,
      ),
    });
    const local = { LOCAL_DIR: operator.localDir, SCOPES_FILE: file };
    await writeFile(join(operator.localDir, 'run.json'), JSON.stringify({ other_api_urls: '' }));
    const running = await operator.run(['scope', 'list'], local);
    await rm(join(operator.localDir, 'run.json'));
    expect(running).toMatchObject({ code: 1, stderr: expect.stringContaining(refused) });
  });
});

describe('operator client update', () => {
  it('changes name, scopes and redirect URIs, and notifies running services', async () => {
    const id = await create();
    const added = 'https://new.example.com/callback';
    const broadcasts = await broadcastsOf(async () => {
      const changes = ['--name', 'Renamed', '--scope', 'bookings:read', '--add-redirect-uri', added];
      const updated = await client('update', id, ...changes, '--remove-redirect-uri', CALLBACK, '--json');
      const printed = jsonOf(updated);
      expect(printed).toEqual(await show(id));
      expect(printed).toEqual({
        client_id: id,
        version: 2,
        name: 'Renamed',
        type: 'confidential',
        redirect_uris: [added],
        scopes: ['bookings:read'],
        optional_scopes: [],
        require_par: false,
        require_state: true,
        first_party: false,
        developer_portal: false,
        id_token_alg: 'RS256',
        subject: 'public',
        private_schemes: [],
        post_logout_redirect_uris: [],
        backchannel_logout_uri: null,
        client_uri: null,
        policy_uri: null,
        contacts: [],
        disabled_at: null,
        logo: null,
        auth_method: 'client_secret',
        jwks: null,
        live_secrets: 1,
        created_at: expect.any(String),
      });
    });
    expect(broadcasts).toEqual([{ client_id: id }]);
    const now = { name: 'Renamed', redirect_uris: [added], scopes: ['bookings:read'], live_secrets: 1 };
    expect(await show(id)).toMatchObject(now);
    const shown = await client('update', id, '--name', 'For people');
    expect(shown).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^name +For people$/m),
    });
  });

  it('sets and removes the home page, the privacy policy and the contacts', async () => {
    const links = { client_uri: 'https://app.example.com/', policy_uri: 'https://app.example.com/privacy' };
    const given = ['--client-uri', links.client_uri, '--policy-uri', links.policy_uri];
    const id = await create(...given, '--contacts', 'help@example.com');
    expect(await show(id)).toMatchObject({ ...links, contacts: ['help@example.com'] });
    await client(
      'update',
      id,
      '--contacts',
      'a@example.com https://example.com/help',
      '--client-uri',
      'none',
    );
    const contacts = ['a@example.com', 'https://example.com/help'];
    expect(await show(id)).toMatchObject({ ...links, client_uri: null, contacts });
    await client('update', id, '--contacts', 'none', '--policy-uri', 'none');
    expect(await show(id)).toMatchObject({ client_uri: null, policy_uri: null, contacts: [] });
  });

  it('refuses wrong input, and writes nothing', async () => {
    const id = await create();
    const before = await show(id);
    const wrong: [string[], RegExp][] = [
      [[id, '--client-uri', 'javascript:alert(1)'], /--client-uri must be an https URL/],
      [[id, '--contacts', 'nobody'], /--contacts "nobody" must be an email address or an https URL/],
      [[id], /nothing to change/],
      [[id, '--remove-redirect-uri', CALLBACK], /a redirect URI is missing/],
      [[id, '--remove-redirect-uri', `${CALLBACK}/`], /callback\/" is not registered/],
      [[id, '--add-redirect-uri', CALLBACK], /is registered already/],
      [[id, '--add-redirect-uri', 'com.example.app:/cb'], /public clients/],
      [[id, '--name', 'Good', '--add-redirect-uri', 'http://a.example/'], /use https/],
      [[id, '--scope', 'everything'], /"everything" is unknown: the scopes are .*profile:read/],
      [[id, '--name', ''], /--name must be/],
      [['sc_unknown', '--name', 'A'], /no client "sc_unknown"/],
    ];
    for (const [args, problem] of wrong) expectRefused(await client('update', ...args), problem);
    expect(await show(id)).toEqual(before);
  });
});

describe('operator client secret', () => {
  it('adds a second secret, lists both secrets, and revokes the first', async () => {
    const id = await create();
    const broadcasts = await broadcastsOf(async () => {
      const rotated = jsonOf(await client('secret', 'rotate', id, '--json')) as Rotated;
      expect(rotated.client_secret).toMatch(/^scs_[A-Za-z0-9_-]{43}$/);
      expect(rotated.secrets).toHaveLength(2);
      const [old] = rotated.secrets;
      const listed = jsonOf(await client('secret', 'list', id, '--json')) as Secret[];
      expect(listed).toEqual(rotated.secrets);
      expect(listed[1]).toEqual({
        id: rotated.secret_id,
        created_at: expect.any(String),
        last_used_at: null,
      });
      expectRefused(
        await client('secret', 'rotate', id),
        new RegExp(`client secret revoke ${id} ${old!.id}`),
      );
      const revoked = await client('secret', 'revoke', id, old!.id, '--json');
      expect(jsonOf(revoked)).toEqual({ client_id: id, revoked: old!.id, secrets: [listed[1]] });
    });
    expect(broadcasts).toEqual([{ client_id: id }, { client_id: id }]);
  });

  it('never shows a secret again, nor its hash', async () => {
    const id = await create();
    const rotated = await client('secret', 'rotate', id);
    const [secret = ''] = /scs_\S+/.exec(rotated.stdout) ?? [];
    expect(rotated.stdout).toMatch(/only once[^]*client secret revoke sc_/);
    const later = [
      ['secret', 'list', id],
      ['secret', 'list', id, '--json'],
      ['secret', 'rotate', id],
      ['show', id],
    ];
    for (const args of later) {
      const { stdout, stderr } = await client(...args);
      expect(stdout + stderr).not.toContain(secret);
      expect(withoutIds(stdout + stderr)).not.toMatch(/scs_|hash|\\x/);
    }
    expect((await client('secret', 'list', id)).stdout).toMatch(/^id +created_at +last_used_at$/m);
  });

  it('never creates a third live secret, even in concurrent runs', async () => {
    const id = await create();
    const outcomes = await Promise.all(
      Array.from({ length: 3 }, () =>
        runOperator(['client', 'secret', 'rotate', id, '--json'], operator.env),
      ),
    );
    expect(outcomes.map(({ code }) => String(code)).toSorted()).toEqual(['0', '2', '2']);
    expect((await show(id))['live_secrets']).toBe(2);
  });

  it('revokes the last secret only with --force', async () => {
    const id = await create();
    const [only] = jsonOf(await client('secret', 'list', id, '--json')) as Secret[];
    expectRefused(await client('secret', 'revoke', id, only!.id), /last live secret.*--force/);
    expect((await show(id))['live_secrets']).toBe(1);
    const forced = await client('secret', 'revoke', id, only!.id, '--force', '--json');
    expect(jsonOf(forced)).toMatchObject({ secrets: [] });
  });

  it('lists the live secrets after a revocation, even if there are none', async () => {
    const id = await create();
    const { secrets } = jsonOf(await client('secret', 'rotate', id, '--json')) as Rotated;
    const [first = '', second = ''] = secrets.map((secret) => secret.id);
    const stdout = async (...args: string[]) => (await client('secret', 'revoke', id, ...args)).stdout;
    expect(await stdout(first)).toBe(`Revoked ${first}. Still live: ${second}.\n`);
    expect(await stdout(second, '--force')).toBe(`Revoked ${second}. No live secret is left.\n`);
  });

  it('refuses public clients, unknown clients and unknown secrets', async () => {
    const phone = await create('--public');
    const id = await create();
    const wrong: [string[], RegExp][] = [
      [['rotate', phone], /is a public client: it uses PKCE instead of a secret/],
      [['list', phone], /is a public client/],
      [['revoke', phone, 'x', '--force'], /is a public client/],
      [['rotate', 'sc_unknown'], /no client "sc_unknown"/],
      [['list', 'sc_unknown'], /no client/],
      [
        ['revoke', id, 'nothing'],
        /the client has no live secret "nothing"\. See:\n {2}operator client secret list/,
      ],
      [['revoke', id], /secret-id/],
      [['rotate'], /--help/],
      [['foo'], /client secret --help/],
    ];
    for (const [args, problem] of wrong) expectRefused(await client('secret', ...args), problem);
    expect(await show(phone)).toMatchObject({ live_secrets: 0 });
  });
});

describe('operator resource-server', () => {
  const server = (...args: string[]) => operator.run(['resource-server', ...args]);

  it('creates, lists and revokes an account, and notifies running services', async () => {
    const made = jsonOf(await server('create', '--name', 'Bookings', '--json')) as {
      id: string;
      secret: string;
    };
    expect(made).toEqual({
      id: expect.stringMatching(/^rs_[a-z2-7]{24}$/),
      secret: expect.stringMatching(/^scs_/),
      introspection_url: 'https://api.example.com/api/auth/oauth/introspect',
    });
    const listed = await server('list', '--json');
    expect(jsonOf(listed)).toEqual([
      {
        id: made.id,
        name: 'Bookings',
        auth_method: 'client_secret',
        jwks: null,
        version: 1,
        created_at: expect.any(String),
      },
    ]);
    expect((await server('list')).stdout).toMatch(new RegExp(`^${made.id} .* Bookings$`, 'm'));
    const broadcasts = await broadcastsOf(async () => {
      expect(jsonOf(await server('revoke', made.id, '--json'))).toEqual({ id: made.id, revoked: true });
    });
    expect(broadcasts).toEqual([{ client_id: made.id }]);
    expectRefused(await server('revoke', made.id), /no resource server/);
    expect(jsonOf(await server('list', '--json'))).toEqual([]);
  });

  it('changes the name of an account without its secret, and refuses a change without a value', async () => {
    const made = jsonOf(await server('create', '--name', 'Bookings', '--json')) as { id: string };
    const broadcasts = await broadcastsOf(async () => {
      expect(jsonOf(await server('update', made.id, '--name', 'Rooms', '--json'))).toMatchObject({
        id: made.id,
        name: 'Rooms',
        auth_method: 'client_secret',
        version: 2,
      });
    });
    expect(broadcasts).toEqual([{ client_id: made.id }]);
    expectRefused(await server('update', made.id), /nothing to change/);
    expectRefused(await server('update', made.id, '--jwks-uri', 'none'), /neither keys nor a secret/);
    expectRefused(await server('update', `rs_${'a'.repeat(24)}`, '--name', 'Rooms'), /no resource server/);
    expect((await server('revoke', made.id)).code).toBe(0);
  });

  it('stores only the SHA-256 of the secret, and refuses an invalid name', async () => {
    const shown = await server('create', '--name', 'People’s API');
    expect(shown.stdout).toMatch(/^secret +scs_\S+$/m);
    expect(shown.stdout).toContain('only once');
    const [row] = await operator.rows<{ bytes: number }>(
      'SELECT octet_length(secret_hash) AS bytes FROM resource_servers WHERE name = $1',
      ['People’s API'],
    );
    expect(row?.bytes).toBe(32);
    expectRefused(await server('create', '--name', ' '), /--name must be/);
    expectRefused(await server('create'), /--name must be/);
  });
});
