import { connect, type NatsConnection } from '@nats-io/transport-node';
import { auditEvent, type AuditRecord } from '#audit/event.js';
import { storeEvent } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { auditEvents } from '#test/support/audit-trail.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { runCommand, useOperator, useRunningApps } from '../support/use-operator.js';

describe('explain', () => {
  const CLIENT = 'sc_abcdefghijklmnopqrstuvwx';
  const REFERENCE = 'dhdpfs_iGBYa';
  const NOW = Date.now();

  const operator = useOperator();
  let nats: NatsConnection;

  async function store(
    record: Partial<AuditRecord>,
    secondsAgo = 60,
    service: 'token' | 'resource' = 'token',
  ) {
    const time = new Date(NOW - secondsAgo * 1000);
    await storeEvent(nats, auditEvent(service, { type: 'request.refused', ...record }, time));
  }

  beforeAll(async () => {
    nats = await connect(natsOptions(operator.natsUrl, 'explain test'));
    const request = { method: 'POST', path: '/api/auth/oauth/token' };
    const refused = { client_id: CLIENT, request, status: 400, error: 'invalid_grant' };
    await store({ type: 'token.issued', client_id: CLIENT, reference: 'earlier_____', status: 200 }, 90);
    await store({
      ...refused,
      reference: REFERENCE,
      grant_id: 'g1',
      check: 'redirect_uri_mismatch',
      description: "the parameter 'redirect_uri' differs from the one in the authorization request",
      detail: { sent: 'https://app.example.com/callback/', expected: 'https://app.example.com/callback' },
    });
    await store({ ...refused, reference: 'another_____', client_id: 'sc_other' }, 59);
    await store({ ...refused, reference: 'later_______', check: 'expired' }, 50);
    await store({ ...refused, reference: '-hyphen-_-_-', check: 'expired' }, 40);
    await store({ reference: 'hours_ago___', ...refused, check: 'code_replayed' }, 3 * 3600);
    await store(
      { reference: 'at_an_api___', error: 'invalid_token', check: 'access_token_inactive', status: 401 },
      30,
      'resource',
    );
    await store(
      { reference: 'at_an_api___', error: 'invalid_token', check: 'revoked', client_id: CLIENT },
      30,
    );
  });

  afterAll(() => nats.close());

  describe('a forged event', () => {
    // U+009B begins an escape sequence, and JSON does not escape it.
    const COMMANDS = '\u001b]0;title\u0007\u009b31m';

    it('cannot control the terminal with any of its texts', async () => {
      const detail = { [COMMANDS]: COMMANDS, sent: COMMANDS, expected: 'x' };
      const texts = {
        client_id: COMMANDS,
        grant_id: `\0${COMMANDS}`,

        description: COMMANDS,
      };
      const request = { method: COMMANDS, path: COMMANDS };
      await store(
        { reference: 'forged_keys_', check: COMMANDS, error: COMMANDS, request, detail, ...texts },
        20,
      );
      const { code, stdout, stderr } = await operator.run(['explain', 'forged_keys_']);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('title');
      // Without a terminal, the output has no colours, whose escape sequences would be control characters.
      expect(stdout).not.toMatch(/[^\P{C}\n]/u);
    });

    it.each(['__proto__', 'constructor'])('is explained if its check is named %s', async (check) => {
      const reference = `forged_${check}`.slice(0, 12);
      await store(
        { reference, check, detail: JSON.parse('{"__proto__":"x","sent":"y"}') as Record<string, string> },
        20,
      );
      const { code, stdout } = await operator.run(['explain', reference]);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`^Failed check +${check}$`, 'm'));
      expect(stdout).toMatch(/^ +__proto__ +x$/m);
    });
  });

  describe('explain REFERENCE', () => {
    it('prints the request, the failed check, the remedies and other events of the client', async () => {
      const { code, stdout, stderr } = await operator.run(['explain', REFERENCE]);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/^Reference +dhdpfs_iGBYa$/m);
      expect(stdout).toMatch(/^Request +POST \/api\/auth\/oauth\/token$/m);
      expect(stdout).toMatch(/^Failed check +redirect_uri_mismatch$/m);
      expect(stdout).toContain('https://app.example.com/callback{+/+}');
      expect(stdout).toContain('developer of the application: ');
      expect(stdout).toMatch(/token\.issued +200/);
      expect(stdout).toMatch(/request\.refused +400 +expired/);
      expect(stdout).not.toContain('another_____');
      expect(stdout).not.toContain('hours_ago___');
    });

    it('prints the explanation as JSON', async () => {
      const { stdout } = await operator.run(['explain', REFERENCE, '--json']);
      expect(JSON.parse(stdout)).toMatchObject({
        reference: REFERENCE,
        client_id: CLIENT,
        grant_id: 'g1',
        check: 'redirect_uri_mismatch',
        differences: [{ marked: 'https://app.example.com/callback{+/+}' }],
        remedies: expect.arrayContaining([expect.objectContaining({ party: 'application' })]),
        around: [
          { type: 'token.issued' },
          { reference: 'later_______' },
          { reference: '-hyphen-_-_-' },
          { reference: 'at_an_api___', check: 'revoked' },
        ],
      });
    });

    it('prints the failed check of the token app for a request that an API refused', async () => {
      const { stdout } = await operator.run(['explain', 'at_an_api___', '--json']);
      expect(JSON.parse(stdout)).toMatchObject({
        check: 'revoked',
        client_id: CLIENT,
        other_events: [{ service: 'resource', check: 'access_token_inactive' }],
      });
    });

    it('explains a request that succeeded', async () => {
      const { code, stdout } = await operator.run(['explain', 'earlier_____']);
      expect([code, stdout]).toEqual([0, expect.stringContaining('This request was not refused.')]);
    });

    it('accepts a reference that begins with a hyphen', async () => {
      const { code, stdout } = await operator.run(['explain', '-hyphen-_-_-', '--json']);
      expect([code, (JSON.parse(stdout) as { check: string }).check]).toEqual([0, 'expired']);
    });

    it('states how far back it has searched for an unknown reference, and lists similar references', async () => {
      const { code, stdout, stderr } = await operator.run(['explain', 'dhdpfs_iGBya']);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/no event since 20\S+ \S+ UTC has the reference "dhdpfs_iGBya"/);
      expect(stderr).toContain('similar references, in case of a typo: dhdpfs_iGBYa');
    });
  });

  describe('explain without PostgreSQL', () => {
    it('uses only the audit trail, and warns', async () => {
      const env = { ...operator.env, DATABASE_URL: 'postgres://x:y@127.0.0.1:1/x' };
      await store(
        { reference: 'grant_only__', error: 'invalid_token', check: 'revoked', grant_id: 'g2' },
        20,
      );
      const { code, stdout, stderr } = await operator.run(['explain', 'grant_only__'], env);
      expect([code, stdout]).toEqual([0, expect.stringContaining('The access was revoked')]);
      expect(stderr).toContain('PostgreSQL (DATABASE_URL) does not answer');
    });
  });

  describe('explain --client', () => {
    it('groups the refused requests of a period by cause', async () => {
      const { stdout } = await operator.run(['explain', '--client', CLIENT, '--json']);
      const { groups, refused, succeeded } = JSON.parse(stdout);
      expect([refused, succeeded]).toEqual([4, 1]);
      expect(groups[0]).toMatchObject({
        check: 'expired',
        error: 'invalid_grant',
        count: 2,
        title: 'The code or token has expired',
        first: new Date(NOW - 50_000).toISOString(),
        last: new Date(NOW - 40_000).toISOString(),
        reference: '-hyphen-_-_-',
        party: 'application',
      });
      const { stdout: longer } = await operator.run([
        'explain',
        '--client',
        CLIENT,
        '--since',
        '1d',
        '--json',
      ]);
      expect(JSON.parse(longer).refused).toBe(5);
    });

    it('prints each group with a remedy', async () => {
      const { stdout } = await operator.run(['explain', '--client', CLIENT]);
      expect(stdout).toMatch(/^Since \S+, 4 requests of sc_abc.* refused; 1 other event\.$/m);
      expect(stdout).toContain('2 × The code or token has expired');
      expect(stdout).toMatch(/^developer of the application: Redeem a code immediately/m);
    });

    it('reports that a client, given by id or name, has no refused requests', async () => {
      const create = [
        'client',
        'create',
        '--name',
        'New',
        '--redirect-uri',
        'https://new.example.com/cb',
        '--json',
      ];
      const { client_id: id } = JSON.parse((await operator.run(create)).stdout) as { client_id: string };
      for (const client of [id, 'New']) {
        const { code, stdout } = await operator.run(['explain', '--client', client]);
        expect([code, stdout]).toEqual([
          0,
          expect.stringMatching(/^Since \S+, 0 requests of sc_\w+ refused/),
        ]);
      }
    });

    it('refuses a client that is in neither the audit trail nor the database', async () => {
      const { code, stderr } = await operator.run(['explain', '--client', 'sc_nobody']);
      expect([code, stderr]).toEqual([2, expect.stringContaining('there is no client "sc_nobody"')]);
    });
  });

  describe('explain', () => {
    it.each([
      [[], 'give a reference, or --client'],
      [[REFERENCE, '--client', CLIENT], 'give a reference, or --client'],
      [['x'], 'is not a reference'],
      [['--client', CLIENT, '--since', 'yesterday'], '--since must be'],
      [[REFERENCE, '--since', '1h'], '--since needs --client'],
      [['0123456789abcdef0123456789abcdef'], 'is a reference of the proxy'],
    ])('refuses %j', async (args, message) => {
      const { code, stderr } = await operator.run(['explain', ...args]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    });

    it('names NATS if it does not answer', async () => {
      const env = { ...operator.env, NATS_URL: 'nats://127.0.0.1:1' };
      const { code, stderr } = await operator.run(['explain', REFERENCE], env);
      expect([code, stderr]).toEqual([1, expect.stringContaining('NATS (NATS_URL) does not answer')]);
    });
  });
});

describe('explain product', () => {
  const { env, urls, fixture } = useRunningApps(['authorize', 'token', 'resource']);
  let client: TestClient;
  let userId: number;

  beforeAll(async () => {
    client = await fixture.client();
    userId = await fixture.user();
  });

  async function post(path: string, parameters: Record<string, string>): Promise<Record<string, string>> {
    const answer = await fetch(`${urls.token}/api/auth/oauth/${path}`, {
      method: 'POST',
      body: new URLSearchParams({ ...client, ...parameters }),
    });
    return (await answer.json()) as Record<string, string>;
  }

  const redeem = async (code: string, redirect_uri = REDIRECT_URI) =>
    post('token', { grant_type: 'authorization_code', code, redirect_uri });

  function authorize(parameters: Record<string, string>): Promise<Response> {
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: REDIRECT_URI,
      state: 's',
      ...parameters,
    });
    return fetch(`${urls.authorize}/auth/oauth2/authorize?${query}`, { redirect: 'manual' });
  }

  /** Explains a reference as text and JSON after its events are stored. Neither output may contain `secrets`. */
  async function explain(
    reference: string,
    secrets: readonly string[] = [],
    events = 1,
  ): Promise<Record<string, unknown>> {
    await auditEvents(env.NATS_URL, { reference }, events);
    const text = await runCommand(['explain', reference], env);
    const json = await runCommand(['explain', reference, '--json'], env);
    expect([text.code, text.stderr, json.code]).toEqual([0, '', 0]);
    for (const secret of [...secrets, client.client_secret])
      expect(text.stdout + json.stdout).not.toContain(secret);
    return JSON.parse(json.stdout) as Record<string, unknown>;
  }

  describe('explain for requests to the running product', () => {
    it('finds the registered redirect URI that is closest to the rejected one', async () => {
      const page = await (await authorize({ redirect_uri: `${REDIRECT_URI}/` })).text();
      const [, reference = ''] = /Reference: <code>([\w-]{12})<\/code>/.exec(page) ?? [];
      expect(await explain(reference)).toMatchObject({
        check: 'redirect_uri_unregistered',
        client_id: client.client_id,
        values: expect.arrayContaining([{ name: 'sent', value: `${REDIRECT_URI}/` }]),
        differences: [{ marked: `${REDIRECT_URI}{+/+}` }],
        remedies: expect.arrayContaining([
          {
            party: 'operator',
            action: 'If the address is the application’s, register it.',
            commands: [`operator client update ${client.client_id} --add-redirect-uri '${REDIRECT_URI}/'`],
          },
        ]),
      });
    });

    it('finds the reason for a rejected code, and earlier events of the client', async () => {
      const { access_token = '' } = await redeem(await fixture.code(client.client_id, userId));
      const code = await fixture.code(client.client_id, userId);
      const { error_reference: reference = '' } = await redeem(code, 'https://app.example.com/callback');
      const explanation = await explain(reference, [code, access_token]);
      expect(explanation).toMatchObject({
        check: 'redirect_uri_mismatch',
        differences: [{ sent: 'https://app.example.com/callback', expected: REDIRECT_URI }],
        around: expect.arrayContaining([expect.objectContaining({ type: 'token.issued' })]),
      });
    });

    it('finds the failed check of a token that an API rejected', async () => {
      const pair = await redeem(await fixture.code(client.client_id, userId));
      const { access_token: token = '' } = pair;
      await post('revoke', { token });
      const answer = await fetch(`${urls.resource}/v2/me`, { headers: { Authorization: `Bearer ${token}` } });
      expect(answer.status).toBe(401);
      const reference = answer.headers.get('error-reference') ?? '';
      const explanation = await explain(reference, [token], 2);
      expect(explanation).toMatchObject({
        check: 'revoked',
        // Only the record of the grant contains these values.
        client_id: client.client_id,
        user_id: userId,
        around: expect.arrayContaining([expect.objectContaining({ type: 'grant.revoked' })]),
        event: { service: 'token' },
        other_events: [{ service: 'resource', error: 'invalid_token', check: 'access_token_inactive' }],
      });
      const { stdout: page } = await runCommand(['explain', reference], env);
      expect(page).toMatch(/^Request +GET \/v2\/me$/m);
      expect(page).toMatch(/^Answer +401 invalid_token$/m);
      const { stdout } = await runCommand(['explain', '--client', client.client_id, '--json'], env);
      expect((JSON.parse(stdout) as { groups: unknown[] }).groups).toContainEqual(
        expect.objectContaining({ check: 'revoked', error: 'invalid_token', reference }),
      );
    });

    it('shows the event to the application, the response of its receiver and the next attempt', async () => {
      const stream = `INSERT INTO event_streams (client_id, delivery, endpoint_url, events_requested, due_at)
        VALUES ($1, 'push', 'https://app.example.com/events', '{tokens-revoked}', now() + interval '1 hour')`;
      await fixture.sql(stream, [client.client_id]);
      const { access_token: token = '', refresh_token: refresh = '' } = await redeem(
        await fixture.code(client.client_id, userId),
      );
      await post('revoke', { token });
      await fixture.sql("UPDATE events SET attempts = 2, answer = 'status 503'");
      const { error_reference: reference = '' } = await post('token', {
        grant_type: 'refresh_token',
        refresh_token: refresh,
      });
      expect(await explain(reference, [token, refresh])).toMatchObject({
        deliveries: [
          {
            type: 'tokens-revoked',
            user_id: userId,
            state: 'waiting',
            answer: 'status 503',
            next_attempt_at: expect.any(String) as string,
          },
        ],
      });
      const { stdout } = await runCommand(['explain', reference], env);
      expect(stdout).toMatch(/Events for the application[^]*tokens-revoked +waiting +2 +status 503/);
    });

    it('groups all refused requests of a client', async () => {
      const { headers } = await authorize({ scope: 'profile:reed' });
      const callback = new URL(headers.get('location') ?? '');
      expect(callback.searchParams.get('error')).toBe('invalid_scope');
      const explanation = await explain(callback.searchParams.get('error_reference') ?? '');
      expect(explanation).toMatchObject({
        check: 'scope_unregistered',
        differences: [{ marked: 'profile:re[-a-]{+e+}d' }],
      });
      await auditEvents(env.NATS_URL, { clientId: client.client_id, types: ['request.refused'] }, 3);
      const { stdout } = await runCommand(['explain', '--client', client.client_id, '--json'], env);
      const { groups } = JSON.parse(stdout) as { groups: { check: string; count: number }[] };
      expect(groups.map(({ check }) => check)).toEqual(
        expect.arrayContaining(['redirect_uri_unregistered', 'redirect_uri_mismatch', 'scope_unregistered']),
      );
    });
  });
});
