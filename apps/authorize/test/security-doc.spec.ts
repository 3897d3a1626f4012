import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { THROTTLE_LIMITS } from '../src/login/throttle/throttle.store.js';
import { PASSWORD } from './support/start-authorize-app.js';
import { EVERY_RESPONSE } from './support/every-answer.js';
import { useAuthorizeApp } from './support/use-authorize-app.js';

const text = readFileSync(fileURLToPath(new URL('../../../docs/security.md', import.meta.url)), 'utf8');

const tablesOf = (section: string): string[][][] => {
  const content = text.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...content.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) =>
    table
      .trim()
      .split('\n')
      .slice(2)
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
  );
};

const plain = (cell = '') => cell.replaceAll('`', '');
const valuesOf = (rows: string[][] = []) =>
  Object.fromEntries(rows.map(([name, value]) => [plain(name).toLowerCase(), plain(value)]));

const [always, readable, policies] = tablesOf('Headers');
const [cookies] = tablesOf('Cookies');

const AVATAR_ORIGINS = 'https://avatars.example.com';
const { app: http } = useAuthorizeApp({ AVATAR_ORIGINS });
const { app: https } = useAuthorizeApp({ AVATAR_ORIGINS, AUTH_URL: 'https://auth.example.com' });

describe.each(EVERY_RESPONSE)('%s', (name, _route, policy, open) => {
  it('has exactly the security headers in docs/security.md', async () => {
    const { headers } = await open(https);
    const documented = {
      ...valuesOf(always),
      ...(name !== 'the error page for a malformed HTTP request' && valuesOf(readable)),
    };
    expect(Object.keys(documented).length).toBeGreaterThan(6);
    const unrelated =
      /^(content-security-policy|content-(type|length|language)|date|connection|keep-alive|set-cookie|location|allow|vary|retry-after)$/;
    const securityHeaders = Object.fromEntries(
      Object.entries(headers).filter(([header]) => !unrelated.test(header)),
    );
    if (name === "the product's icon") documented['cache-control'] = 'public, max-age=31536000, immutable';
    expect(securityHeaders).toEqual(documented);
    const expected = policies?.find(([answer]) => answer === policy)?.[1];
    expect(headers['content-security-policy']).toBe(
      plain(expected).replace('{style}', https.brand.styleSource).replace('{avatar}', AVATAR_ORIGINS),
    );
  });

  it('has Strict-Transport-Security only when AUTH_URL is https', async () => {
    const { headers } = await open(http);
    expect(headers['strict-transport-security']).toBeUndefined();
  });
});

it('every cookie is set as docs/security.md describes it', async () => {
  for (const app of [https, http]) {
    const browser = app.browser();
    const page = await browser.get('/auth/login');
    const user = await app.user();
    await app.sql("UPDATE users SET locale = 'de' WHERE id = $1", [user.id]);
    const answer = await browser.submit(page, { username: user.email, password: PASSWORD });
    const given = [page, answer].flatMap(
      ({ headers }) => (headers['set-cookie'] ?? []) as unknown as string[],
    );
    const found = given.map((header) => {
      const [, cookie = '', attributes = ''] = /^([^=]+)=[\w.-]+; (.*)$/.exec(header) ?? [];
      return [cookie, attributes];
    });
    const documented = (cookies ?? []).map(([cookie, , , attributes]) => {
      const pair = [plain(cookie), plain(attributes)];
      return app === https
        ? pair
        : [pair[0]?.replace('__Host-', 'oauth_service_'), pair[1]?.replace('; Secure', '')];
    });
    expect(new Set(found.map(String))).toEqual(new Set(documented.map(String)));
  }
});

it('docs/security.md lists the limits of the login throttle', () => {
  const minutes = (cell = '') => (cell.endsWith(' h') ? 60 : 1) * Number.parseInt(cell, 10) * 60_000;
  const [rows = []] = tablesOf('Throttling');
  const { addressAndLogin, address, login, device } = THROTTLE_LIMITS;
  expect(
    rows.map(([, failures, window]) => ({ failures: Number(failures), window: minutes(window) })),
  ).toEqual([addressAndLogin, address, login, device]);
});
