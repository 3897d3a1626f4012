import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { MAX_PIPELINED } from '#platform/http/request-hooks.js';
import { useProxiedAuthorizeApp } from '../support/start-authorize-app.js';

const { app, proxies } = useProxiedAuthorizeApp();

describe('the logo of an application', () => {
  it.each(['image/png', 'image/jpeg', 'image/webp'] as const)(
    'is served only as %s and cannot run scripts',
    async (mediaType) => {
      const image = randomBytes(500);
      const { logo } = await app.client({ logo: { mediaType, image } });
      const answer = await app.browser().get(`/auth/logos/${logo}`);
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        'content-type': mediaType,
        'content-length': '500',
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      expect(answer.body).toEqual(image);
    },
  );

  it.each(['0'.repeat(64), '0'.repeat(63), 'x', '%2e%2e', `${'0'.repeat(64)}.png`])(
    'results in 404 for an unknown digest: %s',
    async (digest) => {
      const answer = await app.browser().get(`/auth/logos/${digest}`);
      expect([answer.status, answer.type]).toEqual([404, 'text/html']);
    },
  );

  it('results in 404 for a digest of 15,000 characters', async () => {
    const answer = await app.browser().get(`/auth/logos/${'0'.repeat(15_000)}`);
    expect([answer.status, answer.type]).toEqual([404, 'text/html']);
  });

  it('is served as soon as it is registered, even after an earlier 404', async () => {
    const image = randomBytes(100);
    const digest = createHash('sha256').update(image).digest('hex');
    const browser = app.browser();
    expect((await browser.get(`/auth/logos/${digest}`)).status).toBe(404);
    await app.client({ logo: { mediaType: 'image/png', image } });
    expect((await browser.get(`/auth/logos/${digest}`)).status).toBe(200);
  });

  it('stays cached during many concurrent guesses of digests, which cause few queries', async () => {
    const { logo } = await app.client({ logo: { mediaType: 'image/png', image: randomBytes(100) } });
    const real = `/auth/logos/${logo}`;
    const browser = app.browser();
    expect((await browser.get(real)).status).toBe(200);
    const guesses = Array.from({ length: 300 }, () => `/auth/logos/${randomBytes(32).toString('hex')}`);
    let queries = 0;
    proxies.postgres.onStatement = (sql) => (queries += sql.includes('client_logos') ? 1 : 0);
    expect(await statusesOf(guesses)).toEqual(guesses.map(() => '404'));
    expect(queries).toBeGreaterThan(0);
    expect(queries).toBeLessThan(30);
    await app.sql('DELETE FROM client_logos WHERE digest = $1', [logo]);
    expect((await browser.get(real)).status).toBe(200);
  });

  it('is served again after an outage of the database', async () => {
    const { logo } = await app.client({ logo: { mediaType: 'image/png', image: randomBytes(100) } });
    const browser = app.browser();
    proxies.postgres.disconnect();
    expect((await browser.get(`/auth/logos/${logo}`)).status).toBe(503);
    expect((await browser.get('/auth/logos/zzz')).status).toBe(404);
    proxies.postgres.reconnect();
    expect((await browser.get(`/auth/logos/${logo}`)).status).toBe(200);
  });
});

/** Sends the requests concurrently with HTTP pipelining. @returns the status codes */
async function statusesOf(paths: readonly string[]): Promise<(string | undefined)[]> {
  const bursts: Promise<string>[] = [];
  for (let start = 0; start < paths.length; start += MAX_PIPELINED)
    bursts.push(burst(paths.slice(start, start + MAX_PIPELINED)));
  const answers = (await Promise.all(bursts)).join('');
  return [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
}

function burst(paths: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  const last = paths.length - 1;
  const head = (index: number) => `Host: localhost${index === last ? '\r\nConnection: close' : ''}\r\n\r\n`;
  socket.write(paths.map((path, index) => `GET ${path} HTTP/1.1\r\n${head(index)}`).join(''));
  return text(socket);
}
