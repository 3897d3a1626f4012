import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from '#test/support/browser.js';
import { ASSERTION_TYPE, ClientKey } from '#test/support/keys.js';
import { thumbprintOf } from '#oauth/jwk.js';
import { startTokenApp, type TokenApp } from '../../apps/token/test/support/start-token-app.js';
import {
  type DevelopersApp,
  startDevelopersApp,
} from '../../apps/developers/test/support/start-developers-app.js';

let portal: DevelopersApp;
let token: TokenApp;
let host: Server;
let respond: (response: ServerResponse) => void;
let fetches: number;
let key: ClientKey;
let browser: Browser;
let id: string;

const sql = (text: string, values: readonly unknown[]) => portal.fixture.sql(text, [...values]);

beforeAll(async () => {
  host = createServer((_request, response) => {
    fetches++;
    respond(response);
  }).listen(0, '127.0.0.1');
  await once(host, 'listening');
  portal = await startDevelopersApp();
  token = await startTokenApp(
    {
      TOKEN_KEYS: portal.tokenKeys,
      BASE_URL: portal.configuration.BASE_URL,
      OUTSIDE_FETCH_ALLOW: '127.0.0.1',
    },
    portal.services,
  );
  key = await ClientKey.generate('ES256', 'first');
});
beforeEach(async () => {
  fetches = 0;
  ({ browser } = await portal.developer());
  id = await portal.application(browser);
  await portal.resetRateLimits();
});
afterAll(async () => {
  await token.close();
  await portal.close();
  host.close();
});

const revokeSecrets = () =>
  sql('UPDATE client_secrets SET revoked_at = now() WHERE client_id = $1 AND revoked_at IS NULL', [id]);

const setOf = (...keys: readonly object[]) => JSON.stringify({ keys });

/** Sends a form of the page of the keys, with the version that the page has. */
async function send(fields: Record<string, string>) {
  const [, version = ''] =
    /name="version" value="(\d+)"/.exec((await browser.get(`/applications/${id}/keys/change`)).text) ?? [];
  return portal.postForm(browser, `/applications/${id}/keys`, { version, ...fields });
}

async function registered(...keys: readonly ClientKey[]): Promise<void> {
  await revokeSecrets();
  const { headers } = await send({ jwks: setOf(...keys.map(({ jwk }) => jwk)) });
  expect(headers['location']).toBe(`/applications/${id}?note=keys`);
}

/** Status of a request that is authenticated with this key. */
async function statusWith(signer: ClientKey): Promise<number> {
  const body = new URLSearchParams({
    token: 'sat_x',
    client_assertion_type: ASSERTION_TYPE,
    client_assertion: await signer.assertion(id, portal.configuration.BASE_URL),
  });
  return (await fetch(`${token.url}/api/auth/oauth/revoke`, { method: 'POST', body })).status;
}

const stored = async () =>
  (await sql('SELECT jwks, jwks_uri AS uri FROM clients WHERE client_id = $1', [id]))[0];

describe('an owner', () => {
  it('registers keys with which the application authenticates immediately', async () => {
    expect(await statusWith(key)).toBe(401);
    await registered(key);
    expect(await statusWith(key)).toBe(200);
    const { text } = await browser.get(`/applications/${id}`);
    for (const shown of ['private_key_jwt', 'first', 'EC P-256', thumbprintOf(key.jwk as never)])
      expect(text).toContain(shown);
    expect(text).not.toContain('Create a secret');
    const guide = (await browser.get(`/applications/${id}/integrate`)).text;
    expect(guide).toContain('client_assertion=$CLIENT_ASSERTION');
    expect(guide).not.toContain('$CLIENT_SECRET');
  });

  it('replaces a key, whose assertions the token app refuses immediately', async () => {
    await registered(key);
    expect(await statusWith(key)).toBe(200);
    const second = await ClientKey.generate('PS256', 'second');
    await registered(second);
    expect([await statusWith(key), await statusWith(second)]).toEqual([401, 200]);
    expect((await browser.get(`/applications/${id}/keys`)).text).toContain('RSA 2048');
  });

  it('sees the thumbprints of the old and the new keys in the history', async () => {
    await registered(key);
    const second = await ClientKey.generate('ES256', 'second');
    await registered(second);
    const { text } = await browser.get(`/applications/${id}/history`);
    const [old, current] = [key, second].map(
      ({ jwk }) => `<bdi>${jwk.kid}=${thumbprintOf(jwk as never)}</bdi>`,
    );
    for (const change of [`<del>${old}</del>`, `<ins>${current}</ins>`]) expect(text).toContain(change);
  });

  it('informs the receiver of the events of the application of changed keys', async () => {
    await sql(
      `INSERT INTO event_streams (client_id, delivery, events_requested)
       VALUES ($1, 'poll', '{client-credential-changed}')`,
      [id],
    );
    await registered(key);
    expect(
      await sql(
        `SELECT type, details FROM events JOIN event_streams s ON s.id = stream_id
         WHERE client_id = $1 AND type LIKE '%credential%' ORDER BY events.id DESC LIMIT 1`,
        [id],
      ),
    ).toMatchObject([{ type: expect.stringContaining('credential') }]);
  });

  it.each([
    ['a private key', setOf({ kty: 'EC', crv: 'P-256', d: 'SECRET' }), 'Contains a private key'],
    ['a shared secret', setOf({ kty: 'oct', k: 'SECRET' }), 'Contains a'],
    ['no JWK Set', 'SECRE', 'Is not a JWK Set'],
  ])('cannot register %s, and no page shows it', async (_what, jwks, problem) => {
    await revokeSecrets();
    const refused = await send({ jwks });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(problem)]);
    expect(refused.text).not.toContain('SECRET');
    expect(await stored()).toEqual({ jwks: null, uri: null });
  });

  it.each(['http://rooms.example.com/jwks', 'https://user@rooms.example.com/jwks', 'file:///etc/passwd'])(
    'cannot register the URL %s',
    async (jwksUri) => {
      await revokeSecrets();
      const refused = await send({ jwksUri });
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('Must be an https URL')]);
      expect(await stored()).toEqual({ jwks: null, uri: null });
    },
  );

  it('revokes the secrets before keys replace them', async () => {
    const { version } = (await sql('SELECT version FROM clients WHERE client_id = $1', [id]))[0] as {
      version: number;
    };
    const refused = await send({ jwks: setOf(key.jwk), version: String(version) });
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining('Revoke its secrets first'),
    ]);
    expect(await stored()).toEqual({ jwks: null, uri: null });
  });

  it('removes the keys, and then creates a secret', async () => {
    await registered(key);
    expect((await portal.postForm(browser, `/applications/${id}/secrets`, { days: '' })).status).toBe(409);
    await portal.postForm(browser, `/applications/${id}/keys/remove`);
    expect(await statusWith(key)).toBe(401);
    expect((await portal.postForm(browser, `/applications/${id}/secrets`, { days: '' })).status).toBe(201);
  });

  it('keeps the keys of a FAPI client, whose profile requires them', async () => {
    await registered(key);
    await sql(
      `UPDATE clients SET profile = 'fapi2', require_par = true, dpop_bound = true, keeps_refresh_token = true
       WHERE client_id = $1`,
      [id],
    );
    expect((await browser.get(`/applications/${id}`)).text).not.toContain('keys/remove');
    expect((await portal.postForm(browser, `/applications/${id}/keys/remove`)).status).toBe(400);
    expect(await statusWith(key)).not.toBe(401);
  });

  it('does not overwrite the keys that another owner has just changed', async () => {
    await registered(key);
    const outdated = await send({ jwks: setOf(key.jwk), version: '1' });
    expect(outdated.status).toBe(409);
  });

  it('of another application changes no keys', async () => {
    await registered(key);
    const stranger = await portal.developer();
    const fields = { jwks: setOf((await ClientKey.generate()).jwk), version: '3' };
    for (const path of ['keys', 'keys/remove'])
      expect((await portal.postForm(stranger.browser, `/applications/${id}/${path}`, fields)).status).toBe(
        404,
      );
    expect(await statusWith(key)).toBe(200);
  });
});

describe('the state of a jwks_uri', () => {
  /** Registers the URL of the test, which no form accepts, because it is not https. */
  async function atHost(): Promise<void> {
    await revokeSecrets();
    const uri = `http://127.0.0.1:${(host.address() as AddressInfo).port}/${id}`;
    await sql('UPDATE clients SET jwks_uri = $2 WHERE client_id = $1', [id, uri]);
  }

  const state = async () => (await browser.get(`/applications/${id}/keys`)).text;

  it('has the keys that the token app fetched, and causes one fetch', async () => {
    respond = (response) => response.end(setOf(key.jwk, { kty: 'unknown' }));
    await atHost();
    const text = await state();
    for (const shown of ['Last fetch', '<dd>1</dd>', 'first', thumbprintOf(key.jwk as never)])
      expect(text).toContain(shown);
    await state();
    expect([await statusWith(key), fetches]).toEqual([200, 1]);
  });

  it.each([
    ['the URL cannot be reached', (response: ServerResponse) => response.writeHead(500).end()],
    [
      'the URL redirects',
      (response: ServerResponse) => response.writeHead(302, { Location: 'http://127.0.0.1/SECRET' }).end(),
    ],
    ['the URL does not have a JWK Set', (response: ServerResponse) => response.end('SECRET')],
  ])('has the cause of a failed fetch: %s', async (cause, answer) => {
    respond = answer;
    await atHost();
    const text = await state();
    expect(text).toContain(cause);
    expect(text).not.toContain('SECRET');
    await state();
    expect(fetches).toBe(1);
  });

  it('says that the host has no public address, and not which', async () => {
    await revokeSecrets();
    await send({ jwksUri: 'https://169.254.169.254/jwks.json' });
    const text = await state();
    expect(text).toContain('the host has no public address');
  });

  it('of another application causes no fetch', async () => {
    respond = (response) => response.end(setOf(key.jwk));
    await atHost();
    const stranger = await portal.developer();
    expect((await stranger.browser.get(`/applications/${id}/keys`)).status).toBe(404);
    expect(fetches).toBe(0);
  });
});
