import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OutsideHosts } from '#platform/http/outside-hosts.js';
import { OutsideHttp } from '#platform/http/outside-http.js';
import { ASSERTION_TYPE, ClientKey } from '#test/support/keys.js';
import { RemoteClientKeysService } from '../../src/client-auth/remote-client-keys.service.js';
import { expectStandardError } from '../support/use-bad-input.js';
import { ISSUER, useKeyClient } from '../support/use-key-client.js';

const MINUTE = 60_000;

class KeyHost {
  requests = 0;
  keys: readonly object[] = [];
  cacheControl = '';
  respond: ((response: ServerResponse) => void) | undefined;
  private readonly server: Server = createServer((_request, response) => {
    this.requests++;
    if (this.respond) return this.respond(response);
    if (this.cacheControl !== '') response.setHeader('Cache-Control', this.cacheControl);
    response.end(JSON.stringify({ keys: this.keys }));
  });

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/jwks.json`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

let host: KeyHost;

beforeEach(async () => {
  host = new KeyHost();
  await host.listen();
});
afterEach(() => host.close());

describe('a client with a jwks_uri', () => {
  const client = useKeyClient({ OUTSIDE_FETCH_ALLOW: '127.0.0.1' });
  const { app } = client;
  const anchorOf = ({ body }: { body: { error_uri?: string } }) => body.error_uri?.split('#')[1];

  async function revokeBy(clientId: string, key: ClientKey) {
    return app.post('revoke', {
      token: 'sat_x',
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await key.assertion(clientId, ISSUER),
    });
  }

  it('authenticates in concurrent requests that share one fetch of its keys', async () => {
    const key = await ClientKey.generate('PS256');
    host.keys = [{ kty: 'unknown' }, key.jwk];
    const clientId = await client.register({ jwks: null, jwksUri: host.url });
    const answers = await Promise.all(Array.from({ length: 5 }, () => revokeBy(clientId, key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await revokeBy(clientId, key)).status).toBe(200);
    expect(host.requests).toBe(1);
  });

  it('gets invalid_client while its host fails, and causes only one request to the host', async () => {
    host.respond = (response) => response.writeHead(500).end();
    const key = await ClientKey.generate();
    const clientId = await client.register({ jwks: null, jwksUri: host.url });
    for (let count = 0; count < 3; count++) {
      const refused = await revokeBy(clientId, key);
      expectStandardError(refused, 401, 'invalid_client');
      expect(anchorOf(refused)).toBe('client_keys_unavailable');
    }
    expect(host.requests).toBe(1);
  });

  it.each([
    [
      'a redirect',
      (response: ServerResponse) => response.writeHead(302, { Location: 'http://127.0.0.1/' }).end(),
    ],
    ['text that is not JSON', (response: ServerResponse) => response.end('<html>')],
    ['JSON that is not a JWK Set', (response: ServerResponse) => response.end('[]')],
    ['deeply nested JSON', (response: ServerResponse) => response.end('['.repeat(400_000))],
    ['600 KB', (response: ServerResponse) => response.end(`{"keys":[]${' '.repeat(600_000)}}`)],
  ])('gets invalid_client if its host responds with %s', async (_what, respond) => {
    host.respond = respond;
    const clientId = await client.register({ jwks: null, jwksUri: host.url });
    const refused = await revokeBy(clientId, await ClientKey.generate());
    expectStandardError(refused, 401, 'invalid_client');
    expect(anchorOf(refused)).toBe('client_keys_unavailable');
  });

  it('cannot make the service fetch an address of a private network', async () => {
    const clientId = await client.register({ jwks: null, jwksUri: 'https://169.254.169.254/jwks.json' });
    const refused = await revokeBy(clientId, await ClientKey.generate());
    expect(anchorOf(refused)).toBe('client_keys_unavailable');
    expect(refused.text).not.toContain('169.254');
  });

  it('cannot use a private key that its host has published by mistake', async () => {
    const key = await ClientKey.generate();
    host.keys = [{ ...key.jwk, d: 'AAAA' }];
    const clientId = await client.register({ jwks: null, jwksUri: host.url });
    expect(anchorOf(await revokeBy(clientId, key))).toBe('client_assertion_key_mismatch');
  });
});

describe('the keys at a jwks_uri', () => {
  let now: number;
  let keys: RemoteClientKeysService;

  beforeEach(() => {
    now = 1_800_000_000_000;
    keys = new RemoteClientKeysService(new OutsideHttp(new OutsideHosts('127.0.0.1')), () => now);
    host.keys = [RSA_KEY];
  });

  const RSA_KEY = { kty: 'RSA', n: 'n'.repeat(342), e: 'AQAB' };
  const has = (kid: string) =>
    keys.tryKeys(host.url, (set) => Promise.resolve(set.keys.some((key) => key.kid === kid)));
  const known = () => keys.tryKeys(host.url, (set) => Promise.resolve(set.keys.length > 0));

  it.each([
    ['a minute if max-age is shorter', 'max-age=1', 1],
    ['a minute despite no-store', 'no-store', 1],
    ['the max-age of the response', 'public, max-age=300', 5],
    ['an hour if max-age is longer', 'max-age=31536000', 60],
    ['ten minutes without Cache-Control', '', 10],
  ])('are cached for %s', async (_rule, cacheControl, minutes) => {
    host.cacheControl = cacheControl;
    await known();
    now += minutes * MINUTE - 1;
    await known();
    expect(host.requests).toBe(1);
    now += 1;
    await known();
    expect(host.requests).toBe(2);
  });

  it('are fetched again for a new kid, but at most every 30 seconds', async () => {
    await known();
    host.keys = [RSA_KEY, { ...RSA_KEY, kid: 'new' }];
    expect(await has('new')).toBe(false);
    now += 30_000;
    expect(await has('new')).toBe(true);
    for (let count = 0; count < 20; count++) expect(await has(`unknown ${count}`)).toBe(false);
    expect(host.requests).toBe(2);
  });

  it('are accepted for only one more hour if the host fails', async () => {
    await known();
    host.respond = (response) => response.destroy();
    now += 69 * MINUTE;
    expect(await known()).toBe(true);
    const { requests } = host;
    expect(await known()).toBe(true);
    expect(host.requests).toBe(requests);
    now += MINUTE;
    await expect(known()).rejects.toMatchObject({ reason: 'unreachable' });
  });

  it('are no longer accepted after the host has removed them', async () => {
    host.keys = [{ ...RSA_KEY, kid: 'old' }];
    expect(await has('old')).toBe(true);
    host.keys = [RSA_KEY];
    now += 10 * MINUTE;
    expect(await has('old')).toBe(false);
  });
});
