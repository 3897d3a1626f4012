import { auditEvents } from '#test/support/audit-trail.js';
import { expectRefused, jsonOf, useOperator } from '../support/use-operator.js';

const operator = useOperator();

const event = (...args: string[]) => operator.run(['event', ...args]);
const sql = <Row>(statement: string, ...values: unknown[]): Promise<Row[]> =>
  operator.rows<Row>(statement, values);

/** A waiting event of a new client. */
async function waiting(): Promise<{ readonly clientId: string; readonly jti: string }> {
  const created = await operator.run([
    'client',
    'create',
    '--name',
    'Calendar',
    '--redirect-uri',
    'https://a.example/cb',
    '--json',
  ]);
  const { client_id: clientId } = jsonOf(created) as { client_id: string };
  const [row] = await sql<{ jti: string }>(
    `WITH stream AS (
       INSERT INTO oauth.event_streams (client_id, delivery, endpoint_url, authorization_header, events_requested)
       VALUES ($1, 'push', 'https://app.example.com/events', 'sealed', '{}') RETURNING id
     )
     INSERT INTO oauth.events (stream_id, type, txn) SELECT id, 'verification', gen_random_uuid() FROM stream RETURNING jti`,
    clientId,
  );
  return { clientId, jti: row?.jti ?? '' };
}

const finish = (jti: string, outcome: string, answer: string) =>
  sql(
    'UPDATE oauth.events SET outcome = $1, answer = $2, finished_at = now() WHERE jti = $3',
    outcome,
    answer,
    jti,
  );

describe('operator event', () => {
  it('lists the events of an application, and those that wait', async () => {
    const { clientId, jti } = await waiting();
    await waiting();
    const list = async (...args: string[]) =>
      (jsonOf(await event('list', '--client', clientId, '--json', ...args)) as { jti: string }[]).map(
        (one) => one.jti,
      );
    expect(await list('--waiting')).toEqual([jti]);
    await finish(jti, 'delivered', 'status 202');
    expect([await list('--waiting'), await list()]).toEqual([[], [jti]]);
    expect((await event('list', '--client', clientId)).stdout).toMatch(/status 202/);
  });

  it('shows the latest answer, but not the header of the receiver', async () => {
    const { clientId, jti } = await waiting();
    await sql("UPDATE oauth.events SET attempts = 1, answer = 'status 503' WHERE jti = $1", jti);
    const { stdout } = await event('show', jti, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      jti,
      type: 'verification',
      client_id: clientId,
      state: 'waiting',
      attempts: 1,
      answer: 'status 503',
      next_attempt_at: expect.any(String) as string,
      receiver: 'https://app.example.com/events',
      stream_status: 'enabled',
    });
    expect(stdout).not.toContain('sealed');
  });

  it('delivers a finished event again, with the same jti, and records who did', async () => {
    const { clientId, jti } = await waiting();
    expectRefused(await event('redeliver', jti), /still waits/);
    await finish(jti, 'refused', 'status 400');
    expect((await event('redeliver', jti)).stdout).toBe(`${jti} is delivered again.\n`);
    expect(await sql('SELECT outcome FROM oauth.events WHERE jti = $1', jti)).toEqual([{ outcome: null }]);
    const [recorded] = await auditEvents(operator.natsUrl, { types: ['operator.command'], clientId });
    expect(recorded).toMatchObject({ detail: { command: 'event redeliver', jti } });
  });

  it('rejects an unknown jti', async () => {
    expectRefused(await event('show', 'no-event'), /there is no event "no-event"/);
  });
});
