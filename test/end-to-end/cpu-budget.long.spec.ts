import { fastify, type FastifyInstance } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { cpuTime } from '../support/process-tree.js';
import { KeptConnection, rawForm } from '../support/raw-http.js';
import { ProductUser, type RunningProduct, startProduct } from './running-product.js';

/**
 * Maximum CPU time of a request and its client, as a multiple of a plain Fastify route with a response
 * of similar size. At least 1.5 times the measured values 3.3, 3.6 and 2.6. Logging is off, because
 * logs would be written to the test output.
 */
const BUDGET = { forged: 5.2, refresh: 6.5, known: 3.9 };

/**
 * Minimum number of blocks per kind of request. The kinds alternate. Only the cheapest block of each kind counts,
 * because other processes add cost.
 */
const BLOCKS = 8;
/** Maximum number of blocks per kind. On a busy machine, it takes more blocks until one is undisturbed. */
const MOST_BLOCKS = 32;
const CONNECTIONS = 16;
const REQUESTS_EACH = 40;

interface Subject {
  readonly port: number;
  readonly request: string;
  readonly status: number;
}

let product: RunningProduct;
let bare: FastifyInstance;
let subjects: Record<'form' | 'get' | keyof typeof BUDGET, Subject>;

beforeAll(async () => {
  product = await startProduct({ RETRY_WINDOW: 3600 });
  bare = await startBare();
  const { run } = product;
  const user = new ProductUser(run);
  const { body } = await user.redeem(await user.code());
  const { client_id, client_secret } = run.client;
  const form = (refresh_token: string) =>
    rawForm(ENDPOINTS.token, { grant_type: 'refresh_token', refresh_token, client_id, client_secret });
  const get = `GET ${ENDPOINTS.me} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${String(body['access_token'])}\r\n\r\n`;
  const [token, resource, plain] = [run.base_url, run.api_url, bare.listeningOrigin].map((url) =>
    Number(new URL(url).port),
  ) as [number, number, number];
  const forged = form(`srt_${'A'.repeat(84)}`);
  subjects = {
    form: { port: plain, request: forged, status: 200 },
    get: { port: plain, request: get, status: 200 },
    forged: { port: token, request: forged, status: 400 },
    // Repeats one refresh within the retry window. Each repetition has the same cost as the first refresh.
    refresh: { port: token, request: form(String(body['refresh_token'])), status: 200 },
    known: { port: resource, request: get, status: 200 },
  };
});

afterAll(async () => {
  await bare.close();
  await product.close();
});

async function startBare(): Promise<FastifyInstance> {
  const app = fastify();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  app.post(ENDPOINTS.token, async () => ({ access_token: 'A'.repeat(88), refresh_token: 'A'.repeat(88) }));
  app.get(ENDPOINTS.me, async () => ({ status: 'success', data: { id: 1, username: 'ada', name: 'Ada' } }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app;
}

/** @returns CPU milliseconds per request of this process, which is both server and client */
async function block({ port, request, status }: Subject): Promise<number> {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => KeptConnection.open(port)));
  const start = cpuTime();
  let wrong = 0;
  await Promise.all(
    connections.map(async (connection) => {
      for (let n = 0; n < REQUESTS_EACH; n += 1)
        if ((await connection.send(request)).status !== status) wrong += 1;
    }),
  );
  const used = cpuTime() - start;
  expect(wrong).toBe(0);
  for (const connection of connections) connection.close();
  return used / (REQUESTS_EACH * CONNECTIONS);
}

it('a request costs a small multiple of a plain Fastify route', async () => {
  const cheapest = new Map<string, number>();
  const cost = (name: keyof typeof subjects) => cheapest.get(name) ?? Infinity;
  const exceeded = () =>
    Object.entries({
      forged: cost('forged') / cost('form'),
      refresh: cost('refresh') / cost('form'),
      known: cost('known') / cost('get'),
    }).filter(([name, ratio]) => !(ratio < BUDGET[name as keyof typeof BUDGET]));
  for (let n = 0; n < BLOCKS || (n < MOST_BLOCKS && exceeded().length > 0); n += 1)
    for (const [name, subject] of Object.entries(subjects))
      cheapest.set(name, Math.min(cheapest.get(name) ?? Infinity, await block(subject)));
  expect(exceeded()).toEqual([]);
});
