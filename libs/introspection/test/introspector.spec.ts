import { connect, type NatsConnection as NatsClient } from '@nats-io/transport-node';
import {
  INVALIDATIONS,
  type IntrospectionReply,
  type IntrospectionRequest,
  SUBJECTS,
} from '#introspection/contract.js';
import { Introspector } from '#introspection/introspector.js';
import { NatsConnection, natsOptions } from '#platform/nats/nats.connection.js';
import { type Isolated, isolate } from '#testing/isolate.js';

const JKT = 'a'.repeat(43);
const ACTIVE = { active: true, grant_id: 'g', client_id: 'c', sub: '7', scope: 'profile:read' } as const;

let services: Isolated;
/** Replaces the token app, and can give wrong replies. */
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
  introspector = new Introspector(connection);
});

afterAll(async () => {
  await connection.close();
  await tokenApp.close();
  await services.close();
});

let tokens = 0;
const asBearer = async () => introspector.introspect(`token${tokens++}`);
const asProved = async (jkt: string) => {
  const proof = { jkt, jti: 'one', nonce: null, expiresAt: Date.now() + 60_000 };
  return (await introspector.introspectProved(`token${tokens++}`, proof)).token;
};
const answering = (more: Partial<Record<keyof IntrospectionReply | 'cnf' | 'exp', unknown>>) => {
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
    'accepts no token when its key confirmation is %j',
    async (cnf) => {
      answering({ cnf });
      expect(await asBearer()).toBeNull();
      for (const jkt of [JKT, '', 'null']) expect(await asProved(jkt)).toBeNull();
    },
  );
});
