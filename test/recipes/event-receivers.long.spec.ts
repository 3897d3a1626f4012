import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { reportSkipped } from '../support/foreign-library.js';
import { type HttpServer, serve } from '../support/http-server.js';
import { until } from '../support/until.js';
import { findLibrariesOf } from './client-recipes.js';
import { EVENT_RECEIVERS, type RunningReceiver, startEventReceiver } from './event-receivers.js';
import { RecipeProduct } from './recipe.js';

/** Found before the tests are declared, because the test names contain the versions. */
const receivers = await findLibrariesOf(EVENT_RECEIVERS);

const WITHIN_MS = 60_000;
const AUTHORIZATION = 'Bearer of-the-stream';
const SCOPES = ['openid', 'profile:read'];

interface Pushed {
  readonly path: string;
  readonly set: string;
  readonly headers: IncomingHttpHeaders;
  readonly status: number;
}

let product: RecipeProduct;
let server: HttpServer;
/** Receiver to which the server forwards pushes. */
let target: string;
let pushed: Pushed[];

beforeAll(async () => {
  product = await RecipeProduct.start({ OUTSIDE_FETCH_ALLOW: '127.0.0.1' });
  server = await serve((request, response) => {
    void text(request).then(async (set) => {
      // Clients of earlier tests have no receiver any more.
      const status = await send(set, request.headers.authorization).catch(() => 503);
      pushed.push({ path: request.url ?? '', set, headers: request.headers, status });
      response.writeHead(status).end();
    });
  });
});

afterAll(async () => {
  server.close();
  await product.close();
});

async function send(set: string, authorization: string | undefined = AUTHORIZATION): Promise<number> {
  const headers = { 'Content-Type': 'application/secevent+jwt', Authorization: authorization };
  return (await fetch(target, { method: 'POST', headers, body: set })).status;
}

/** Registers a client with a stream whose pushes the server forwards. */
async function register() {
  const env = await product.register('confidential', undefined, { scopes: SCOPES, optionalScopes: [] });
  const { CLIENT_ID = '', CLIENT_SECRET = '', TOKEN_URL = '' } = env;
  const credentials = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET };
  const post = async (url: string, body: Record<string, string>) =>
    (await (await fetch(url, { method: 'POST', body: new URLSearchParams(body) })).json()) as Record<
      string,
      string
    >;
  const { access_token: token = '' } = await post(TOKEN_URL, {
    grant_type: 'client_credentials',
    scope: 'ssf.manage',
    ...credentials,
  });
  const call = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const url = TOKEN_URL.replace('token', `events/${path}`);
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await answer.json().catch(() => ({}))) as Record<string, string>;
  };
  const { stream_id: streamId = '' } = await call('stream', {
    delivery: {
      method: 'urn:ietf:rfc:8935',
      endpoint_url: `${server.url}/${CLIENT_ID}`,
      authorization_header: AUTHORIZATION,
    },
  });
  expect(streamId).not.toBe('');
  /** Sends a user through the authorization, and revokes the grant. @returns the ID token */
  const revoke = async (): Promise<string> => {
    const url = new URL(env['AUTHORIZATION_URL'] ?? '');
    const redirect_uri = env['REDIRECT_URI'] ?? '';
    const query = {
      client_id: CLIENT_ID,
      redirect_uri,
      state: 's',
      response_type: 'code',
      scope: SCOPES.join(' '),
    };
    url.search = new URLSearchParams(query).toString();
    const code = (await product.allow(url.href)).searchParams.get('code') ?? '';
    const pair = await post(TOKEN_URL, {
      grant_type: 'authorization_code',
      code,
      redirect_uri,
      ...credentials,
    });
    await fetch(TOKEN_URL.replace('token', 'revoke'), {
      method: 'POST',
      body: new URLSearchParams({ token: pair['access_token'] ?? '', ...credentials }),
    });
    return pair['id_token'] ?? '';
  };
  const verify = () => call('verify', { stream_id: streamId, state: 'last' });
  /** Returns the first push for this client. */
  const arrived = async (): Promise<Pushed> => {
    const find = () => pushed.find(({ path }) => path === `/${CLIENT_ID}`);
    await until('a push', WITHIN_MS, () => find() !== undefined);
    return find() as Pushed;
  };
  return { env: { ...env, AUTHORIZATION }, revoke, verify, arrived };
}

/** The same claims, signed with a key that is not the service's. */
async function forged(set: string, header: object = {}): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  return new SignJWT(decodeJwt(set))
    .setProtectedHeader({ alg: 'RS256', typ: 'secevent+jwt', jwk, ...header })
    .sign(privateKey);
}

for (const { recipe, library } of receivers) {
  if ('missing' in library) {
    reportSkipped(`the event receiver ${recipe.heading}`, library);
    continue;
  }

  describe(`the event receiver ${recipe.heading}, ${library.version}`, () => {
    let receiver: RunningReceiver;

    const start = async (env: Record<string, string>, without?: string) => {
      pushed = [];
      receiver = await startEventReceiver(recipe, library, product, env, without);
      target = receiver.url;
    };

    afterEach(() => receiver.stop());

    it('accepts events once, and refuses forged events, ID tokens and events of other clients', async () => {
      const [ours, other] = [await register(), await register()];
      await start(ours.env);
      const idToken = await ours.revoke();
      const first = await ours.arrived();
      await other.revoke();
      const foreign = await other.arrived();
      expect([first.status, foreign.status]).toEqual([202, 400]);
      const { kid } = JSON.parse(Buffer.from(first.set.split('.')[0] ?? '', 'base64url').toString()) as {
        kid: string;
      };
      const [, payload = '', signature = ''] = first.set.split('.');
      const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'secevent+jwt' })).toString('base64url');
      const altered = Buffer.from(JSON.stringify({ ...decodeJwt(first.set), jti: 'other' })).toString(
        'base64url',
      );
      const refused = {
        otherKey: await send(await forged(first.set)),
        otherKeyOfSameId: await send(await forged(first.set, { kid })),
        altered: await send(first.set.replace(payload, altered)),
        unsigned: await send(`${none}.${altered}.`),
        unsignedWithSignature: await send(`${none}.${altered}.${signature}`),
        idToken: await send(idToken),
        garbage: await send('garbage'),
      };
      expect(refused).toEqual(Object.fromEntries(Object.keys(refused).map((name) => [name, 400])));
      expect(await send(first.set, 'Bearer of-another-stream')).toBe(401);
      expect(await send(first.set)).toBe(202);
      await ours.verify();
      await until('the last event is printed', WITHIN_MS, () =>
        receiver.lines().some((line) => line.includes('last')),
      );
      expect(receiver.lines().map((line) => line.split(' ')[0])).toEqual(['tokens-revoked', 'verification']);
    });

    for (const setting of recipe.needs ?? [])
      it(`needs ${setting.trim().replaceAll(/\s+/g, ' ')}`, async () => {
        const [ours, other] = [await register(), await register()];
        await start(ours.env, setting);
        const idToken = await ours.revoke();
        await ours.arrived();
        await other.revoke();
        expect([await send(idToken), (await other.arrived()).status]).toContain(202);
      });
  });
}
