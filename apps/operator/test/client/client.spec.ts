import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { connect } from '@nats-io/transport-node';
import { SUBJECTS } from '#messaging/contract.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { runOperator } from '../support/run-operator.js';
import { expectRefused, jsonOf, useOperator, withoutIds } from '../support/use-operator.js';

interface Registered {
  client_id: string;
  client_secret: string | null;
}

const CALLBACK = 'https://app.example.com/callback';

describe('operator client', () => {
  const operator = useOperator();

  const client = (args: string[]) => operator.run(['client', ...args]);
  const create = async (...args: string[]) => {
    const outcome = await client([
      'create',
      '--name',
      'Calendar',
      '--redirect-uri',
      CALLBACK,
      '--json',
      ...args,
    ]);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    return { outcome, registered: JSON.parse(outcome.stdout) as Registered };
  };

  it('create prints the five values that an application needs, and stores only the SHA-256 of the secret', async () => {
    const { registered } = await create('--redirect-uri', 'http://localhost:3000/callback');
    expect(registered).toEqual({
      client_id: expect.stringMatching(/^sc_[a-z2-7]{24}$/),
      client_secret: expect.stringMatching(/^scs_[A-Za-z0-9_-]{43}$/),
      secret_id: expect.stringMatching(/^[\da-f-]{36}$/),
      authorization_url: 'https://auth.example.com/auth/oauth2/authorize',
      token_url: 'https://api.example.com/api/auth/oauth/token',
      refresh_url: 'https://api.example.com/api/auth/oauth/refreshToken',
    });
    const [row] = await operator.rows<{ hash: Buffer; redirect_uris: string[] }>(
      'SELECT hash, redirect_uris FROM clients JOIN client_secrets USING (client_id) WHERE client_id = $1',
      [registered.client_id],
    );
    expect(row?.redirect_uris).toEqual([CALLBACK, 'http://localhost:3000/callback']);
    expect(row?.hash).toEqual(createHash('sha256').update(registered.client_secret!).digest());
  });

  it('create prints the values without colours, and says that the secret is shown once', async () => {
    const { code, stdout } = await client(['create', '--name', 'Calendar', '--redirect-uri', CALLBACK]);
    expect(code).toBe(0);
    for (const name of ['client_id', 'client_secret', 'authorization_url', 'token_url', 'refresh_url']) {
      expect(stdout).toMatch(new RegExp(`^${name} +\\S+$`, 'm'));
    }
    expect(stdout).toContain('only once');
    expect(stdout).not.toContain('\u001b');
  });

  // @rfc 6749 10.1
  it('create --public registers a client without a secret', async () => {
    const { registered } = await create('--public', '--redirect-uri', 'com.example.app:/callback');
    expect(registered.client_secret).toBeNull();
    const secrets = await operator.rows('SELECT 1 FROM client_secrets WHERE client_id = $1', [
      registered.client_id,
    ]);
    expect(secrets).toEqual([]);
    const shown = await client(['create', '--public', '--name', 'Phone', '--redirect-uri', CALLBACK]);
    expect(shown.stdout).toMatch(/^client_secret +none: a public client/m);
  });

  it('create --require-par prints the PAR endpoint, and show prints the requirement', async () => {
    const { registered } = await create('--require-par');
    expect(registered).toMatchObject({
      par_url: expect.stringMatching(/\/api\/auth\/oauth\/par$/) as string,
    });
    const [shown, json] = await Promise.all(
      [[], ['--json']].map((format) => client(['show', registered.client_id, ...format])),
    );
    expect(shown?.stdout).toMatch(/^require_par +yes$/m);
    expect(JSON.parse(json!.stdout)).toMatchObject({ require_par: true });
  });

  it('create notifies running services of the new client', async () => {
    const nats = await connect(natsOptions(operator.natsUrl, 'test'));
    const broadcast = (async () => {
      for await (const message of nats.subscribe(SUBJECTS.clientChanged, { max: 1 })) return message.json();
      return null;
    })();
    await nats.flush();
    const { registered } = await create();
    expect(await broadcast).toEqual({ client_id: registered.client_id });
    await nats.close();
  });

  it('create succeeds with a warning if NATS is unreachable or unresponsive', async () => {
    const hanging = createServer().listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const { port } = hanging.address() as { port: number };
    const args = ['create', '--name', 'A', '--redirect-uri', CALLBACK, '--json'];
    const outcomes = await Promise.all([
      operator.run(['client', ...args], {
        ...operator.env,
        NATS_URL: 'nats://user:natspassword@127.0.0.1:1',
      }),
      // A separate process, which must not wait for the server.
      runOperator(['client', ...args], {
        ...operator.env,
        NATS_URL: `nats://user:natspassword@127.0.0.1:${port}`,
      }),
    ]);
    hanging.close();
    for (const { code, stdout, stderr } of outcomes) {
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toHaveProperty('client_secret');
      expect(stderr).toContain('may take 30 s');
      expect(stderr).not.toContain('natspassword');
    }
  });

  it('list and show never print a secret or its hash', async () => {
    const { registered } = await create();
    const id = registered.client_id;
    const outcomes = await Promise.all(
      [['list'], ['list', '--json'], ['show', id], ['show', id, '--json']].map((args) => client(args)),
    );
    const [list, listJson, show, showJson] = outcomes;
    for (const { code, stdout, stderr } of outcomes) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(id);
      expect(withoutIds(stdout)).not.toMatch(/scs_|hash|\\x/);
    }
    expect(list?.stdout).toMatch(/^client_id +type +state +first_party +logo +created_at +name$/m);
    expect(JSON.parse(listJson!.stdout)).toContainEqual(JSON.parse(showJson!.stdout));
    expect(show?.stdout).toMatch(new RegExp(`^redirect_uris +${CALLBACK}$`, 'm'));
    expect(JSON.parse(showJson!.stdout)).toEqual({
      client_id: id,
      name: 'Calendar',
      type: 'confidential',
      redirect_uris: [CALLBACK],
      scopes: ['profile:read'],
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
      version: 1,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  it('reports every problem in the input, and writes nothing', async () => {
    const before = await operator.counts();
    const wrong: [string[], RegExp[]][] = [
      [['create'], [/--name must be/, /a redirect URI is missing/]],
      [
        [
          'create',
          '--name',
          'tab\there',
          ...[
            'http://a.example/',
            'com.example.app:/cb',
            CALLBACK,
            CALLBACK,
            'https://a.example/\u001b[31m',
          ].flatMap((uri) => ['--redirect-uri', uri]),
        ],
        [
          /--name must be/,
          /"http:\/\/a\.example\/" is not encrypted: use https/,
          /"com\.example\.app:\/cb" .* public clients/,
          /is given twice: give it once/,
          /control or non-ASCII characters/,
        ],
      ],
      [['create', '--name', 'A'.repeat(101), '--redirect-uri', CALLBACK], [/1 to 100/]],
      [['show', 'sc_unknown'], [/no client "sc_unknown". See:\n {2}operator client list/]],
    ];
    const outcomes = await Promise.all(wrong.map(([args]) => client(args)));
    for (const [index, { code, stdout, stderr }] of outcomes.entries()) {
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      for (const problem of wrong[index]![1]) expect(stderr).toMatch(problem);
      expect(stderr).not.toContain('\u001b');
    }
    expect(await operator.counts()).toEqual(before);
  });
});

describe('operator client search', () => {
  const operator = useOperator();

  it('finds applications by name, client id or redirect URI, regardless of case', async () => {
    const args = ['client', 'create', '--json', '--name', 'Calendar Connect', '--redirect-uri', CALLBACK];
    const { client_id: id } = JSON.parse((await operator.run(args)).stdout) as Registered;
    await operator.run(['client', 'create', '--name', 'Notes', '--redirect-uri', 'https://notes.example/cb']);
    for (const text of ['CALENDAR', id.slice(3, 20), 'app.example.com']) {
      const found = JSON.parse(
        (await operator.run(['client', 'search', text, '--json'])).stdout,
      ) as Registered[];
      expect(found.map(({ client_id }) => client_id)).toEqual([id]);
    }
    expect((await operator.run(['client', 'search', 'nothing'])).stdout).toBe('No application matches.\n');
  });

  it('filters by state and kind, as the list does', async () => {
    const named = async (...args: string[]) =>
      (JSON.parse((await operator.run(['client', ...args, '--json'])).stdout) as { name: string }[]).map(
        ({ name }) => name,
      );
    const given = ['client', 'create', '--json', '--redirect-uri', CALLBACK, '--name'];
    await operator.run([...given, 'Filtered phone', '--public']);
    const { stdout } = await operator.run([...given, 'Filtered server']);
    await operator.run(['client', 'disable', (JSON.parse(stdout) as Registered).client_id]);
    expect(await named('search', 'filtered', '--kind', 'public')).toEqual(['Filtered phone']);
    expect(await named('search', 'filtered', '--state', 'disabled')).toEqual(['Filtered server']);
    expect(await named('list', '--state', 'disabled')).toEqual(['Filtered server']);
    expect(await named('list', '--kind', 'public')).toEqual(['Filtered phone']);
    const { code, stderr } = await operator.run(['client', 'list', '--state', 'asleep']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--state')]);
  });
});

describe('client name', () => {
  const operator = useOperator();
  const client = (...args: string[]) =>
    operator.run(['client', ...args], { ...operator.env, API_URL: 'https://api.example.com' });

  async function register(name: string): Promise<string> {
    const redirectUri = 'https://app.example.com/callback';
    const created = jsonOf(await client('create', '--name', name, '--redirect-uri', redirectUri, '--json'));
    return (created as { client_id: string }).client_id;
  }

  /** Registers a client by an import, which accepts any client_id. */
  async function importClient(id: string, name: string): Promise<void> {
    const text = JSON.stringify({
      version: 1,
      clients: [
        {
          client_id: id,
          name,
          type: 'confidential',
          redirect_uris: ['https://app.example.com/callback'],
          scopes: ['profile:read'],
        },
      ],
    });
    expect(await operator.run(['client', 'import', '-'], undefined, text)).toMatchObject({ code: 0 });
  }

  /** Runs every client command that takes a client. @returns the client_id on which each command acted */
  async function actedOn(...given: string[]): Promise<unknown[]> {
    const ids: unknown[] = [];
    const run = async (...args: string[]) => {
      // Ignores the warning on stderr: no token app is running.
      const { code, stdout } = await client(...args, '--json', ...given);
      expect(code).toBe(0);
      const result: unknown = JSON.parse(stdout);
      ids.push((result as { client_id?: string }).client_id);
      return result as { secret_id: string };
    };
    await run('show');
    await run('handover');
    await run('update', '--require-par', 'true');
    await run('disable');
    await run('enable');
    const { secret_id: secretId } = await run('secret', 'rotate');
    const live = jsonOf(await client('secret', 'list', '--json', ...given)) as { id: string }[];
    expect(live.map(({ id }) => id)).toContain(secretId);
    ids.push(
      (
        jsonOf(await client('secret', 'revoke', '--json', '--force', ...given, secretId)) as {
          client_id: string;
        }
      ).client_id,
    );
    const { clients } = jsonOf(await client('export', '--json', ...given)) as {
      clients: { client_id: string }[];
    };
    ids.push(...clients.map(({ client_id: id }) => id));
    // Fails because no token app confirms the revocations.
    expect(await client('delete', '--yes', ...given)).toMatchObject({ code: 1 });
    const [deleted] = await operator.rows<{ client_id: string }>(
      'SELECT client_id FROM clients WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC LIMIT 1',
    );
    ids.push(deleted?.client_id);
    return ids;
  }

  const COMMANDS = 9;

  describe('a client command', () => {
    it('accepts the unique name of a client', async () => {
      const name = `Calendar ${randomUUID()}`;
      const id = await register(name);
      expect(await actedOn(name)).toEqual(Array.from({ length: COMMANDS }, () => id));
      expectRefused(await client('show', name), /there is no client "Calendar /);
      // A deletion can be repeated by id.
      const again = await client('delete', id, '--yes');
      expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('run this command again') });
    });

    it('refuses a name that several clients have, lists their ids and changes nothing', async () => {
      const ids = [await register('Twice'), await register('Twice')];
      for (const args of [['show'], ['disable'], ['delete', '--yes'], ['secret', 'rotate'], ['export']]) {
        const outcome = await client(...args, 'Twice');
        expectRefused(outcome, /2 applications are called "Twice": give the client_id of one of them/);
        for (const id of ids) expect(outcome.stderr).toContain(`error: ${id}\n`);
      }
      await client('delete', ids[0] ?? '', '--yes');
      expect(jsonOf(await client('show', 'Twice', '--json'))).toMatchObject({
        client_id: ids[1],
        disabled_at: null,
      });
    });

    it('prefers a client_id to a name', async () => {
      const id = await register('By its id');
      await register(id);
      expect(jsonOf(await client('show', id, '--json'))).toMatchObject({ name: 'By its id' });
    });

    it.each([
      ['an id that begins with a hyphen', '-1f', ['-1f']],
      ['an id that begins with two hyphens', '--json', ['--', '--json']],
    ])('accepts %s', async (_, id, given) => {
      await importClient(id, `Imported ${randomUUID()}`);
      expect(await actedOn(...given)).toEqual(Array.from({ length: COMMANDS }, () => id));
    });
  });
});
