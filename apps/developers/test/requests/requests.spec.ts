import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type DevelopersApp, REQUEST, startDevelopersApp } from '../support/start-developers-app.js';

let portal: DevelopersApp;
beforeAll(async () => {
  portal = await startDevelopersApp();
});
afterAll(() => portal.close());

/** PNG of 20,000 × 20,000 pixels, as its header says. */
const BOMB = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  Buffer.from('00004e2000004e200802000000', 'hex'),
  Buffer.from('00000000', 'hex'),
]);

describe('a request', () => {
  it.each([
    [
      'an SVG',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
      'SVG is not possible',
    ],
    ['a script', Buffer.from('<script>alert(1)</script>'), 'not a complete PNG'],
    ['an image with too many pixels', BOMB, 'not a complete PNG'],
  ])('does not accept %s as a logo', async (_, file, text) => {
    const { browser } = await portal.developer();
    const content = { ...REQUEST, logo_data: file.toString('base64'), action: 'submit' };
    const refused = await portal.postForm(browser, '/requests', content);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(text)]);
  });

  it('has a form that marks optional fields', async () => {
    const { browser } = await portal.developer();
    const { text } = await browser.get('/requests/new');
    const labels = [...text.matchAll(/<label for="[^"]+">([^<]+) \(optional\)</g)].map(([, label]) => label);
    expect(labels).toEqual(['Website', 'Privacy policy', 'Terms of service', 'Contact', 'Logo']);
  });

  it('is not accepted with a name, purpose or reason that a terminal or page could misread', async () => {
    const { browser } = await portal.developer();
    const bad = {
      name: 'Rooms\u202Egnp.exe',
      purpose: 'Rooms\u001B[2J',
      'reason:profile:read': 'Names \u2066of users',
      contacts: '"\u0007"@example.com',
    };
    const refused = await portal.postForm(browser, '/requests', { ...REQUEST, ...bad, action: 'submit' });
    expect(refused.status).toBe(400);
    for (const field of Object.keys(bad)) expect(refused.text).toContain(`id="${field}-problem"`);
  });

  it('that is shown again is stored for five minutes, and only 100 such pages', async () => {
    const { redis } = portal.fixture;
    const { browser } = await portal.developer();
    await redis.del('none', ...(await redis.keys('developers:idempotency:*')));
    await portal.resetRateLimits();
    const send = (purpose: string) =>
      portal.postForm(browser, '/requests', { ...REQUEST, name: '', purpose, action: 'submit' });
    const stored = async () => {
      const names = await redis.keys('developers:idempotency:*');
      const sizes = await Promise.all(names.map((name) => redis.strlen(name)));
      return names.filter((_, at) => (sizes[at] ?? 0) > 1_000);
    };
    expect((await send('one')).status).toBe(400);
    const [name = '', ...others] = await stored();
    expect(others).toEqual([]);
    expect(await redis.ttl(name)).toBeLessThanOrEqual(300);
    const [counter = ''] = await redis.keys('developers:rate:allPages:*');
    await redis.set(counter, 100, 'EX', 300);
    expect((await send('two')).status).toBe(400);
    expect(await stored()).toEqual([name]);
    await portal.resetRateLimits();
  });

  it('with a NUL character is refused as bad input', async () => {
    const { browser } = await portal.developer();
    const refused = await portal.postForm(browser, '/requests', { ...REQUEST, purpose: 'Rooms\0' });
    expect(refused.status).toBe(400);
  });

  it('makes the portal fetch nothing from the addresses in it', async () => {
    const connections: unknown[] = [];
    const server = createServer().on('connection', (socket) => connections.push(socket.destroy()));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { browser } = await portal.developer();
    const fields = { clientUri: url, policyUri: `${url}/privacy`, termsUri: `${url}/terms`, contacts: url };
    const id = await portal.application(browser, { ...fields, redirectUris: `${url}/callback` });
    for (const page of ['', '/change', '/history', '/integrate'])
      expect((await browser.get(`/applications/${id}${page}`)).status).toBe(200);
    expect(connections).toEqual([]);
    server.close();
  });

  it('shows an empty form', async () => {
    const { browser } = await portal.developer();
    const page = await browser.get('/requests/new');
    expect(page.status).toBe(200);
    expect(page.text).toContain('Submit for review');
  });

  it('creates an application in testing, and shows its secret once', async () => {
    const { browser } = await portal.developer();
    const created = await portal.postForm(browser, '/requests', { ...REQUEST, action: 'submit' });
    expect([created.status, created.text]).toEqual([
      201,
      expect.stringContaining('Room Finder is ready for testing'),
    ]);
    const [, clientId = ''] = /id="client-id">([^<]+)</.exec(created.text) ?? [];
    const [secret = ''] = /scs_[\w-]+/.exec(created.text) ?? [];
    expect(secret).not.toBe('');
    const page = await browser.get(`/applications/${clientId}`);
    expect(page.status).toBe(200);
    expect(page.text).toContain('In testing');
    expect(page.text).not.toContain(secret);
  });

  it('without a permission is marked there, in the language of the page', async () => {
    const { browser } = await portal.developer();
    const content = { ...REQUEST, 'reason:profile:read': '', action: 'submit' };
    const refused = await portal.postForm(browser, '/requests', content);
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringMatching(/id="scopes-problem"[^>]*>The application needs one or more permissions\.</),
    ]);
  });

  it('has its problems in the language of the user', async () => {
    const { browser } = await portal.developer({ locale: 'de' });
    const refused = await portal.postForm(browser, '/requests', {
      ...REQUEST,
      redirectUris: 'http://rooms.example.com/callback\nhttp://localhost:3005/login/callback',
      'reason:profile:read': '',
      action: 'submit',
    });
    for (const text of ['ist nicht verschlüsselt', 'gehört zu diesem Dienst', 'mindestens eine Berechtigung'])
      expect(refused.text).toContain(text);
  });

  it('shows each problem of a field on a separate line', async () => {
    const { browser } = await portal.developer();
    const redirectUris = 'http://rooms.example.com/callback\nhttps://rooms.example.com/#top';
    const refused = await portal.postForm(browser, '/requests', {
      ...REQUEST,
      redirectUris,
      action: 'submit',
    });
    expect(refused.text).toMatch(
      /id="redirectUris-problem">[^<]*is not encrypted[^<]*<br \/>[^<]*has a fragment/,
    );
  });

  it('can be revised and submitted again for the same application after a rejection', async () => {
    const { browser } = await portal.developer();
    const clientId = await portal.application(browser);
    const [{ id } = { id: '' }] = (await portal.fixture.sql(
      `UPDATE client_requests SET status = 'rejected', decided_at = now() WHERE client_id = $1 RETURNING id`,
      [clientId],
    )) as { id: string }[];
    const again = await portal.postForm(browser, `/requests/${id}/again`);
    expect(again.status).toBe(303);
    const path = again.headers['location'] ?? '';
    expect((await browser.get(path)).text).not.toContain('name="application"');
    const revised = { ...REQUEST, name: 'Room Finder 2', application: '', version: '1', action: 'submit' };
    const sent = await portal.postForm(browser, path, revised);
    expect([sent.status, sent.headers['location']]).toEqual([303, `${path}?note=proposed`]);
    expect((await browser.get(`/applications/${clientId}`)).text).toContain('Room Finder 2');
  });
});
