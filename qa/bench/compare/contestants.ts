import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { once } from 'node:events';
import { freePort } from '#local/servers/free-port.js';
import { startGuarded } from '#local/servers/guarded-process.js';
import type { SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { REDIRECT_URI, type TestClient } from '#test/support/fixture.js';
import { descendantsOf } from '#test/support/process-tree.js';
import type { Case } from '../load.js';
import type { Product } from '../product.js';

const PEERS = resolve('qa', 'bench', 'peers');

/** Signing algorithm of the ID token of each kind of code exchange; null for exchanges without one. */
const EXCHANGES = { exchange: null, exchangeRs256: 'RS256', exchangeEs256: 'ES256' } as const;
export type Exchange = keyof typeof EXCHANGES;

export const ROUTES = ['exchange', 'exchangeRs256', 'exchangeEs256', 'refresh', 'resource'] as const;
export type Route = (typeof ROUTES)[number];

/** Routes of a server that is not an OpenID provider. */
const PLAIN_ROUTES = ['exchange', 'refresh', 'resource'] as const;

export function isExchange(route: Route): route is Exchange {
  return route in EXCHANGES;
}

/** A server in the comparison: the product, a lower bound, or a peer. */
export interface Contestant {
  readonly name: string;
  /** Processes whose CPU time is measured, in addition to Redis. */
  readonly pids: readonly number[];
  /** Requests by route. Every response is checked. */
  readonly cases: Partial<Record<Route, Case>>;
  readonly prepare: (codes: number, exchange: Exchange) => Promise<void>;
  stop(): Promise<void>;
}

/** Installs the peers. They have a separate package.json, because the product does not depend on them. */
export async function installPeers(): Promise<void> {
  if (existsSync(join(PEERS, 'node_modules', '.package-lock.json'))) return;
  process.stderr.write('installing the peers into qa/bench/peers/node_modules\n');
  const npm = spawn('npm', ['ci', '--no-audit', '--no-fund', '--prefix', PEERS], { stdio: ['ignore', 2, 2] });
  const [code] = (await once(npm, 'exit')) as [number | null];
  if (code !== 0) throw new Error('the peers could not be installed: run npm ci in qa/bench/peers');
}

/** Starts two lower bounds and two oidc-providers on the product's Redis. @returns these and the product */
export async function startPeers(product: Product, redisUrl: string, folder: string): Promise<Contestant[]> {
  const client = { client_id: 'bench', client_secret: 'a-secret-of-the-benchmark-only-43-characters' };
  const env = { REDIS_URL: redisUrl, CLIENT_ID: client.client_id, CLIENT_SECRET: client.client_secret };
  return [
    await startPeer('node:http', 'floor-http.mjs', env, folder, client, ['resource']),
    await startPeer('Fastify, one Redis script', 'floor-fastify.mjs', env, folder, client, PLAIN_ROUTES),
    await startPeer('oidc-provider on Redis', 'oidc-provider.mjs', env, folder, client, ROUTES),
    await startPeer(
      'oidc-provider, same duty',
      'oidc-provider.mjs',
      { ...env, SAME_DUTY: 'true' },
      folder,
      client,
      ROUTES,
    ),
    await thisProduct(product),
  ];
}

type Credentials = Readonly<Record<'client_id' | 'client_secret', string>>;

async function startPeer(
  name: string,
  program: string,
  env: Readonly<Record<string, string>>,
  folder: string,
  client: Credentials,
  routes: readonly Route[],
): Promise<Contestant> {
  const port = await freePort();
  let ready = (): void => undefined;
  const listening = new Promise<void>((resolve) => (ready = resolve));
  const peer = startGuarded({
    name,
    command: process.execPath,
    args: [join(PEERS, program)],
    cwd: PEERS,
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', PORT: String(port), REDIRECT_URI, ...env },
    logFile: join(folder, `${name}.log`),
    onOutput: (text) => text.includes('listening') && ready(),
    signal: 'SIGTERM',
    grace: 2_000,
  });
  const ended = peer.ended.then((how) =>
    Promise.reject(new Error(`${name} ended (${how}); see its log in ${folder}`)),
  );
  ended.catch(() => undefined);
  await Promise.race([listening, ended]);
  const url = `http://127.0.0.1:${port}`;
  // Each algorithm has a separate client; all clients share one secret (oidc-provider.mjs).
  const clientOf = (exchange: Exchange) => {
    const alg = EXCHANGES[exchange];
    return alg === null ? client : { ...client, client_id: `${client.client_id}-${alg}` };
  };
  const { cases, tokens } = casesOf(name, { token: url, resource: url }, '/token', '/me', clientOf);
  return {
    name,
    pids: [peer.pid],
    cases: Object.fromEntries(routes.map((route) => [route, cases[route]])),
    async prepare(codes, exchange) {
      const query = `count=${codes}&client_id=${clientOf(exchange).client_id}`;
      tokens.codes.push(...((await (await fetch(`${url}/codes?${query}`)).json()) as string[]));
    },
    stop: () => peer.stop(),
  };
}

async function thisProduct({ baseUrl, apiUrl, fixture }: Product): Promise<Contestant> {
  const clients = {
    exchange: await fixture.client(),
    exchangeRs256: await openIdClient(fixture, 'RS256'),
    exchangeEs256: await openIdClient(fixture, 'ES256'),
  };
  const urls = { token: baseUrl, resource: apiUrl };
  const { cases, tokens } = casesOf(
    'this product',
    urls,
    '/api/auth/oauth/token',
    '/v2/me',
    (exchange) => clients[exchange],
  );
  const apps = (await descendantsOf(process.pid)).filter(({ command }) =>
    /dist\/apps\/(?:token|resource)\.cjs/.test(command),
  );
  return {
    name: 'this product',
    pids: apps.map(({ pid }) => pid),
    cases,
    async prepare(codes, exchange) {
      const { client_id: clientId } = clients[exchange];
      const openId = {
        scope: 'openid profile:read',
        login: { authTime: Math.floor(Date.now() / 1000), session: 'bench' },
        idToken: { nonce: 'bench' },
      };
      const pending = EXCHANGES[exchange] === null ? {} : openId;
      // Spreads the grants over users, because the number of live grants per user is limited.
      const users = await Promise.all(Array.from({ length: Math.ceil(codes / 100) }, () => fixture.user()));
      for (let issued = 0; issued < codes; issued += users.length)
        tokens.codes.push(...(await Promise.all(users.map((user) => fixture.code(clientId, user, pending)))));
    },
    stop: async () => undefined,
  };
}

async function openIdClient(fixture: Product['fixture'], idTokenAlg: SigningAlgorithm): Promise<TestClient> {
  const client = await fixture.client();
  const scopes = ['openid', 'profile:read'];
  await fixture.registrations.update(client.client_id, (current) => ({ ...current, scopes, idTokenAlg }));
  return client;
}

interface Tokens {
  readonly codes: string[];
  readonly refresh: string[];
  access: string;
}

function casesOf(
  name: string,
  urls: Readonly<Record<'token' | 'resource', string>>,
  tokenPath: string,
  resourcePath: string,
  clientOf: (exchange: Exchange) => Credentials,
): { cases: Record<Route, Case>; tokens: Tokens } {
  const tokens: Tokens = { codes: [], refresh: [], access: '' };
  const post = (fields: Readonly<Record<string, string>>, client = clientOf('exchange')) => ({
    method: 'POST' as const,
    path: tokenPath,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...fields, ...client }).toString(),
  });
  const keep = (body: string) => {
    const { access_token: access, refresh_token: refresh } = JSON.parse(body) as Record<string, unknown>;
    if (typeof access !== 'string' || typeof refresh !== 'string')
      throw new Error(`${name}: an answer without tokens`);
    tokens.access = access;
    tokens.refresh.push(refresh);
  };
  const exchange = (route: Exchange): Case => ({
    name: `${name}: ${route}`,
    url: urls.token,
    status: 200,
    next: () => {
      const code = tokens.codes.pop() ?? '';
      return post({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }, clientOf(route));
    },
    answered: EXCHANGES[route] === null ? keep : (body) => expectIdToken(name, body),
  });
  const cases: Record<Route, Case> = {
    exchange: exchange('exchange'),
    exchangeRs256: exchange('exchangeRs256'),
    exchangeEs256: exchange('exchangeEs256'),
    refresh: {
      name: `${name}: refresh`,
      url: urls.token,
      status: 200,
      // Uses the oldest token first, so that concurrent requests refresh different grants.
      next: () => post({ grant_type: 'refresh_token', refresh_token: tokens.refresh.shift() ?? '' }),
      answered: keep,
    },
    resource: {
      name: `${name}: resource`,
      url: urls.resource,
      status: 200,
      next: () => ({
        method: 'GET',
        path: resourcePath,
        headers: { authorization: `Bearer ${tokens.access}` },
      }),
      answered: (body) => {
        if (!body.startsWith('{"status":"success","data":{"id":')) throw new Error(`${name}: ${body}`);
      },
    },
  };
  return { cases, tokens };
}

/** @throws Error if the response has no ID token */
function expectIdToken(name: string, body: string): void {
  const { id_token: idToken } = JSON.parse(body) as Record<string, unknown>;
  if (typeof idToken !== 'string') throw new Error(`${name}: an answer without an ID token`);
}
