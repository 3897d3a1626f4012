import { randomBytes } from 'node:crypto';
import { SUBJECTS } from '#messaging/contract.js';
import { until } from '#test/support/until.js';
import { type NatsTokenApp, packet, REQUESTS, startNatsTokenApp } from '../support/start-nats-token-app.js';

const { introspect, consumeProof, profile, applyRevocations, grantRevoked, clientChanged, userChanged } =
  SUBJECTS;

let token: NatsTokenApp;

beforeAll(async () => {
  token = await startNatsTokenApp();
});

afterAll(() => token?.close());

const warnings = (): string[] =>
  token.app
    .output()
    .split('\n')
    .filter((line) => line.includes('malformed NATS message'));

describe('a malformed NATS request', () => {
  const key = 'k'.repeat(43);
  const proof = { jkt: key, jti: 'j', expires_at: 1 };
  type Case = [what: string, subject: string, data: unknown];
  const cases: Case[] = [
    ...[undefined, null, 7, 'x', [], {}].flatMap((data) =>
      REQUESTS.map((subject): Case => [`${JSON.stringify(data)} as data`, subject, data]),
    ),
    ['a number as token', introspect, { token: 7 }],
    ['null as token', introspect, { token: null }],
    ['an object as token', introspect, { token: {} }],
    ['an over-long token', introspect, { token: 'x'.repeat(2_000) }],
    ['a short jkt', introspect, { token: 'x', jkt: 'short' }],
    ['a number as jkt', introspect, { token: 'x', jkt: 7 }],
    ['an empty proof', introspect, { token: 'x', jkt: key, proof: {} }],
    ['a proof with a number as jti', introspect, { token: 'x', jkt: key, proof: { ...proof, jti: 7 } }],
    ['a short jkt', consumeProof, { ...proof, jkt: 'short' }],
    ['an empty jti', consumeProof, { ...proof, jti: '' }],
    ['an over-long jti', consumeProof, { ...proof, jti: 'j'.repeat(300) }],
    ['a number as nonce', consumeProof, { ...proof, nonce: 7 }],
    ['an over-long nonce', consumeProof, { ...proof, nonce: 'n'.repeat(300) }],
    ['a string as expires_at', consumeProof, { ...proof, expires_at: '1' }],
    ['a string as user_id', profile, { user_id: '1' }],
    ['a fraction as user_id', profile, { user_id: 1.5 }],
    ['a user_id that PostgreSQL cannot store', profile, { user_id: 2 ** 31 }],
    ['a number as client_id', applyRevocations, { client_id: 7 }],
    ['an empty client_id', applyRevocations, { client_id: '' }],
    ['an over-long client_id', applyRevocations, { client_id: 'x'.repeat(256) }],
    ['a client_id with a space', applyRevocations, { client_id: 'a b' }],
  ];

  it.each(cases)('gets an error: %s (%s)', async (_what, subject, data) => {
    const { err, response, id } = await token.send(subject, packet(subject, data, 'the id'));
    expect(response).toBeUndefined();
    expect(err).toEqual({ status: 'error', message: expect.stringContaining('malformed') });
    expect(id).toBe('the id');
  });

  it.each([
    ['invalid JSON', '{'],
    ['JSON that is not an object', 'null'],
    ['no id', JSON.stringify({ pattern: introspect, data: { token: 'x' } })],
    ['an object as id', packet(introspect, { token: 'x' }, { a: 1 })],
    ['an over-long id', packet(introspect, { token: 'x' }, 'i'.repeat(200))],
    ['more than 16 KiB', packet(introspect, { token: 'x', more: 'x'.repeat(20_000) })],
    ['text that is not UTF-8', Buffer.from(packet(introspect, { token: 'é' }, 'id'), 'latin1')],
  ])('gets an error: %s', async (_what, payload) => {
    const { err, response } = await token.send(introspect, payload);
    expect(response).toBeUndefined();
    expect(err).toEqual({ status: 'error', message: expect.stringContaining('malformed') });
  });
});

it('the responder replies only to inboxes, so that a requester cannot cause a broadcast', async () => {
  const broadcasts: string[] = [];
  const subscription = token.nats.subscribe(grantRevoked, {
    callback: (_error, { data }) => void broadcasts.push(Buffer.from(data).toString()),
  });
  token.nats.publish(introspect, packet(introspect, { token: 'none' }), { reply: grantRevoked });
  token.nats.publish(introspect, '{', { reply: grantRevoked });
  // The app handles requests in order, so it has handled the two requests above.
  await token.seen();
  subscription.unsubscribe();
  expect(broadcasts).toEqual([]);
});

describe('a malformed NATS message', () => {
  const secret = randomBytes(16).toString('hex');

  it.each(REQUESTS)('on %s is logged as a warning without a stack trace or its content', async (subject) => {
    await token.send(subject, packet(subject, { [secret]: secret }));
  });

  it.each([grantRevoked, clientChanged, userChanged])(
    'on %s is logged as a warning without a stack trace or its content',
    async (subject) => {
      token.nats.publish(subject, `{"${secret}":"${secret}"`);
      await until('it is refused', 60_000, async () => warnings().some((line) => line.includes(subject)));
    },
  );

  afterEach(() => {
    expect(warnings().length).toBeGreaterThan(0);
    for (const line of warnings())
      expect(JSON.parse(line)).toMatchObject({
        level: 40,
        subject: expect.any(String),
        problem: expect.any(String),
      });
    expect(token.app.output()).not.toMatch(new RegExp(`"level":50|\\n\\s+at |${secret}`));
  });
});
