import { auditEvents } from '#test/support/audit-trail.js';
import { expectRefused, jsonOf, useOperator } from '../support/use-operator.js';

const operator = useOperator();

const sql = <Row>(statement: string, ...values: unknown[]): Promise<Row[]> =>
  operator.rows<Row>(statement, values);

const CONTENT = {
  application: 'server',
  name: 'Calendar \u001b[31mConnect',
  purpose: 'Shows bookings',
  redirectUris: ['https://app.example.com/callback'],
  scopes: ['profile:read'],
  reasons: { 'profile:read': 'Shows the name' },
};

/** Request of an application in testing. */
async function submitted(content: object = { ...CONTENT, name: 'Calendar Connect' }) {
  const [row] = await sql<{ id: string; client_id: string }>(
    `WITH client AS (
       INSERT INTO oauth.clients (client_id, name, type, redirect_uris, stage)
       VALUES ('sc_' || substr(md5(random()::text), 1, 24), 'Calendar Connect', 'confidential', '{https://app.example.com/callback}', 'testing')
       RETURNING client_id
     )
     INSERT INTO oauth.client_requests (client_id, kind, status, content, submitted_at)
     SELECT client_id, 'registration', 'submitted', $1, now() FROM client RETURNING id, client_id`,
    JSON.stringify(content),
  );
  return { id: row?.id ?? '', clientId: row?.client_id ?? '' };
}

async function user(name: string): Promise<void> {
  const flags = ['--email', `${name}@example.com`, '--username', name, '--name', name];
  jsonOf(await operator.run(['user', 'create', ...flags, '--json']));
}

describe('operator request', () => {
  it('shows what waits, asks, and approves the version that was read', async () => {
    const { id, clientId } = await submitted();
    const listed = jsonOf(await operator.run(['request', 'list', '--json'])) as { id: string }[];
    expect(listed.map((request) => request.id)).toContain(id);
    const { code, stdout } = await operator.run(['request', 'show', id]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Calendar Connect[^]*Check:\n- The request has no website[^]*--reviewed 1/);
    const decide = (decision: string, reviewed: number, ...rest: string[]) =>
      operator.run(['request', decision, id, '--reviewed', String(reviewed), ...rest, '--json']);
    expect(jsonOf(await decide('ask', 1, '--message', 'Why?'))).toMatchObject({
      status: 'question',
      version: 2,
    });
    expectRefused(await decide('approve', 1), /changed since it was read/);
    expect(jsonOf(await decide('approve', 2))).toMatchObject({ status: 'approved', client_id: clientId });
    const stages = await sql('SELECT stage FROM oauth.clients WHERE client_id = $1', clientId);
    expect(stages).toEqual([{ stage: 'live' }]);
    const history = await sql<{ operator: string }>(
      `SELECT operator FROM oauth.client_history WHERE client_id = $1 AND changes ? 'stage' AND action = 'updated'`,
      clientId,
    );
    expect(history).toEqual([{ operator: expect.stringContaining('@') }]);
    const events = await auditEvents(operator.natsUrl, { clientId }, 2);
    expect(events.map(({ type }) => type).sort()).toEqual([
      'client_request.approved',
      'client_request.asked',
    ]);
    expect(events[0]).toMatchObject({ service: 'operator', detail: { request: id, kind: 'registration' } });
  });

  it('rejects only with a message', async () => {
    const { id, clientId } = await submitted();
    expect((await operator.run(['request', 'reject', id, '--reviewed', '1'])).code).toBe(2);
    jsonOf(
      await operator.run(['request', 'reject', id, '--reviewed', '1', '--message', 'No policy', '--json']),
    );
    const rows = await sql('SELECT stage, disabled_at FROM oauth.clients WHERE client_id = $1', clientId);
    expect(rows).toEqual([{ stage: 'testing', disabled_at: expect.any(Date) }]);
  });

  it('prints what owners wrote as text', async () => {
    const { id } = await submitted(CONTENT);
    const { stdout } = await operator.run(['request', 'show', id]);
    expect(stdout).not.toContain('\u001b[31m');
  });

  it('prints no line of an owner’s message like a message of the operator', async () => {
    const { id } = await submitted();
    const text = 'Thanks\n2026-01-02 10:00 Grace (operator): approve this';
    await sql(
      `INSERT INTO oauth.client_request_messages (request_id, author, name, text) VALUES ($1, 'owner', 'Eve', $2)`,
      id,
      text,
    );
    const { stdout } = await operator.run(['request', 'show', id]);
    expect(stdout).toMatch(/^\S.* Eve \(owner\): Thanks\n +2026-01-02 10:00 Grace/m);
  });
});

describe('operator client owner', () => {
  it('adds, lists and removes owners, and finds applications without an owner', async () => {
    const { clientId } = await submitted();
    await user('ada');
    const owner = async (...args: string[]) =>
      jsonOf(await operator.run(['client', 'owner', ...args, '--json']));
    const without = async () =>
      ((await owner('list', '--without')) as { client_id: string }[]).map((one) => one.client_id);
    expect(await without()).toContain(clientId);
    expect(await owner('add', clientId, 'ada@example.com')).toMatchObject({ added: true });
    expect(await owner('add', clientId, 'ada')).toMatchObject({ added: false });
    expect(await owner('list', clientId)).toMatchObject([{ username: 'ada', disabled_at: null }]);
    expect(await without()).not.toContain(clientId);
    // No token app confirms the revocations, but the user is disabled.
    await operator.run(['user', 'disable', 'ada']);
    expect(await without()).toContain(clientId);
    expect(await owner('remove', clientId, 'ada')).toMatchObject({ removed: true });
    expect(await owner('list', clientId)).toEqual([]);
    expectRefused(await operator.run(['client', 'owner', 'remove', clientId, 'ada']), /not a member/);
    expectRefused(await operator.run(['client', 'owner', 'list']), /--without/);
  });

  it('adds no owner to a client by which owners log in', async () => {
    await user('bob');
    const portal = ['--name', 'Developers', '--redirect-uri', 'https://dev.example.com/login/callback'];
    const created = await operator.run(['client', 'create', ...portal, '--developer-portal', '--json']);
    const { client_id: id } = jsonOf(created) as { client_id: string };
    expectRefused(await operator.run(['client', 'owner', 'add', id, 'bob']), /cannot have owners/);
    expect(jsonOf(await operator.run(['client', 'owner', 'list', id, '--json']))).toEqual([]);
  });
});
