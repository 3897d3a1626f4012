import { connect, type NatsConnection as NatsClient } from '@nats-io/transport-node';
import { INVALIDATIONS, type IntrospectionRequest, SUBJECTS } from '#messaging/contract.js';
import { Introspector } from '#introspection/introspector.js';
import { DependencyUnavailableError } from '#platform/errors.js';
import { NatsConnection, natsOptions } from '#messaging/nats.connection.js';
import { type Isolated, isolate } from '#test/support/isolate.js';

const JKT = 'a'.repeat(43);
const ACTIVE = { active: true, grant_id: 'g', client_id: 'c', sub: '7', scope: 'profile:read' } as const;

let services: Isolated;
/** Replacement for the token app, which can send invalid replies. */
let tokenApp: NatsClient;
let connection: NatsConnection;
let introspector: Introspector;
let reply: object;

beforeAll(async () => {
  services = await isolate();
  tokenApp = await connect(natsOptions(services.natsUrl, 'fixture'));
  tokenApp.subscribe(SUBJECTS.introspect, {
    callback: (_error, message) => {
      const { data } = message.json<{ data: IntrospectionRequest }>();
      const consumed = data.proof ? { proof: { outcome: 'consumed' } } : {};
      message.respond(JSON.stringify({ response: { ...reply, ...consumed }, isDisposed: true }));
    },
  });
  await tokenApp.flush();
  connection = new NatsConnection({
    natsUrl: services.natsUrl,
    name: 'test',
    invalidations: INVALIDATIONS,
  });
  await connection.open();
  introspector = new Introspector(connection, { resourceUrl: 'https://api.example.com/v2' });
});

afterAll(async () => {
  await connection.close();
  await tokenApp.close();
  await services.close();
});

let tokens = 0;
const asBearer = async () => introspector.introspect(`token${tokens++}`);
const asProved = async (jkt: string) => {
  const proof = { jkt, jti: 'one', alg: 'ES256' as const, nonce: null, expiresAt: Date.now() + 60_000 };
  return (await introspector.introspectProved(`token${tokens++}`, proof)).token;
};
const answering = (more: Partial<Record<string, unknown>>) => {
  reply = { ...ACTIVE, exp: Math.floor(Date.now() / 1000) + 60, ...more };
};

describe('the introspector (RFC 9449 6)', () => {
  it('accepts a token without a key only as Bearer', async () => {
    answering({});
    expect(await asBearer()).toMatchObject({ userId: 7, jkt: null });
    expect(await asProved(JKT)).toBeNull();
  });

  // @rfc 9449 6
  it('accepts a bound token only with a proof of its key, and never as Bearer', async () => {
    answering({ cnf: { jkt: JKT } });
    expect(await asProved(JKT)).toMatchObject({ userId: 7, jkt: JKT });
    expect(await asProved('b'.repeat(43))).toBeNull();
    expect(await asBearer()).toBeNull();
  });

  it.each([null, {}, { jkt: null }, { jkt: '' }])(
    'rejects a token whose key confirmation is %j',
    async (cnf) => {
      answering({ cnf });
      expect(await asBearer()).toBeNull();
      for (const jkt of [JKT, '', 'null']) expect(await asProved(jkt)).toBeNull();
    },
  );
});

// @rfc 8707 2 @rfc 9700 2.3
describe('the audience check of the introspector (RFC 8707)', () => {
  const [here, elsewhere] = ['https://api.example.com', 'https://bookings.example.com'];
  const refused = [
    [[elsewhere]],
    [['https://api.example.com.evil.example']],
    [['https://api.example.com/v2/me']],
    [['http://api.example.com']],
    [[`${here}:8443`]],
    [['']],
    [[]],
  ];

  it.each([[[here]], [[elsewhere, here]], [[`${here}/v2`]]])(
    'accepts a token for this API: %j',
    async (aud) => {
      answering({ aud });
      expect(await asBearer()).toMatchObject({ userId: 7, audience: aud });
      answering({ aud, cnf: { jkt: JKT } });
      expect(await asProved(JKT)).toMatchObject({ audience: aud });
    },
  );

  it('accepts a token for no particular API', async () => {
    answering({});
    expect(await asBearer()).toMatchObject({ audience: [] });
  });

  it.each(refused)('rejects a token whose audience does not cover this API: %j', async (aud) => {
    answering({ aud });
    expect(await asBearer()).toBeNull();
    answering({ aud, cnf: { jkt: JKT } });
    expect(await asProved(JKT)).toBeNull();
  });

  it('rejects a token with an audience if resourceUrl is not set', async () => {
    const withoutUrl = new Introspector(connection, {});
    answering({ aud: [here] });
    expect(await withoutUrl.introspect('a')).toBeNull();
    answering({});
    expect(await withoutUrl.introspect('b')).not.toBeNull();
  });

  it.each([here, [7], { 0: here }, null])('rejects a reply whose aud is %j', async (aud) => {
    answering({ aud });
    await expect(asBearer()).rejects.toBeInstanceOf(DependencyUnavailableError);
  });

  it('caches its result separately for each token', async () => {
    answering({ aud: [here] });
    expect(await introspector.introspect('ours')).not.toBeNull();
    answering({ aud: [elsewhere] });
    expect(await introspector.introspect('theirs')).toBeNull();
    expect(introspector.cached('theirs')).toBeUndefined();
    expect(introspector.cached('ours')).toMatchObject({ audience: [here] });
  });
});

describe("the user's id in the product", () => {
  it('is null if the reply has no external_id', async () => {
    answering({ external_id: 'ada-1815' });
    expect(await asBearer()).toMatchObject({ userId: 7, externalId: 'ada-1815' });
    answering({});
    expect(await asBearer()).toMatchObject({ externalId: null });
  });
});
