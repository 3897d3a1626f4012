import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RequestMethod } from '@nestjs/common';
import {
  authorizeAddress,
  PASSWORD,
  PKCE,
  REDIRECT_URI,
  useAuthorizeApp,
} from './support/start-authorize-app.js';
import { EVERY_RESPONSE, routesOf } from './support/every-answer.js';
import { THROTTLE_LIMITS } from '../src/login/throttle/throttle.store.js';

const AVATAR_ORIGINS = 'https://avatars.example.com';
const { app } = useAuthorizeApp();
const { app: https } = useAuthorizeApp({ AVATAR_ORIGINS, AUTH_URL: 'https://auth.example.com' });

describe('headers', () => {
  const consent = (clientId: string) =>
    authorizeAddress({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 's', ...PKCE });

  /** The only cacheable response in the list, because its URL depends on its content. */
  const ICON = "the product's icon";

  describe.each(EVERY_RESPONSE)('%s', (name, _route, _policy, open) => {
    let response: Awaited<ReturnType<typeof open>>;

    beforeAll(async () => {
      response = await open(app);
    });

    // @rfc 6749 10.13 @rfc 9700 2.6 @rfc 9700 4.2.4 @rfc 9700 4.16
    it('has headers that forbid storage, framing, content sniffing, inline scripts and referrers', () => {
      const { headers } = response;
      expect(headers).toMatchObject({
        'cache-control': name === ICON ? 'public, max-age=31536000, immutable' : 'no-store',
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'unsafe-none',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
      });
      const policy = headers['content-security-policy'] ?? '';
      expect(policy).toMatch(/^default-src 'none'/);
      expect(policy).toMatch(/frame-ancestors 'none'|sandbox$/);
      // The icon is an SVG, which may contain inline styles.
      expect(name === ICON ? '' : policy).not.toMatch(/unsafe|data:|script-src (?!'self')/);
      expect(headers['access-control-allow-origin']).toBeUndefined();
    });

    it('has no Strict-Transport-Security, because AUTH_URL is not https', () => {
      expect(response.headers['strict-transport-security']).toBeUndefined();
    });

    it('has no inline code, and loads nothing from other sites', () => {
      const { text = '' } = response;
      expect(text).not.toMatch(/<script(?! src="\/auth\/script\/)|\son\w+="|\sstyle="|javascript:/i);
      expect(text).not.toMatch(
        /(?:src|srcset)="(?!\/auth\/)|<link (?!rel="icon" href="\/auth\/brand\/)|<(?:iframe|object|embed|base)\b|@import|url\(/i,
      );
      // The error reference may be larger, because only developers read it.
      expect(Buffer.byteLength(text)).toBeLessThan(name === 'the error reference' ? 96_000 : 30_000);
    });
  });

  it('these responses cover every GET route', () => {
    const routes = EVERY_RESPONSE.map(([, route]) => route).filter((route) => route !== null);
    expect(routesOf(app.configuration, RequestMethod.GET).toSorted()).toEqual(
      ['/auth', ...routes].toSorted(),
    );
  });

  it('the Content-Security-Policy allows the style of the page by its hash, and forbids base URLs', async () => {
    const { headers, text } = await app.browser().get('/auth/login');
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
    expect(headers['content-security-policy']).toContain("base-uri 'none'");
    expect(headers['content-security-policy']).toMatch(/form-action 'self';/);
  });

  // @deviation D1
  it('Strict-Transport-Security is sent when AUTH_URL is https', async () => {
    const { headers } = await https.browser().get('/auth/login');
    expect(headers['strict-transport-security']).toMatch(/^max-age=\d{8}/);
  });

  // @rfc 6749 10.14
  it('the consent page and the account page escape the names of the client and the user', async () => {
    const hostile = '<img src=x onerror=alert(1)>"\'';
    const { clientId } = await app.client({ name: hostile });
    const browser = await app.loggedIn(await app.user(hostile));
    for (const page of [await browser.get(consent(clientId)), await browser.get('/auth/')]) {
      expect(page.status).toBe(200);
      expect(page.text).not.toContain('<img');
      expect(page.text).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;');
    }
  });

  it('no name or parameter on a page changes the direction of the following text', async () => {
    const bidirectional = 'Nice\u202e\u2066 \u2069\u2069א';
    const { clientId } = await app.client({ name: bidirectional });
    const browser = await app.loggedIn(await app.user(bidirectional));
    const consentPage = await browser.get(consent(clientId));
    expect(consentPage.text).toContain(
      '<title>Allow \u2068Nice\ufffd\ufffd \ufffd\ufffdא\u2069 to access your account?',
    );
    const parameters = { client_id: clientId, redirect_uri: REDIRECT_URI, state: 's' };
    const pages = [
      consentPage,
      await browser.get('/auth/'),
      await app
        .browser()
        .get(
          authorizeAddress({ ...parameters, login_hint: bidirectional }).replace('oauth2/authorize', 'login'),
        ),
      await browser.get(
        authorizeAddress({ ...parameters, redirect_uri: `https://a.example/${bidirectional}` }),
      ),
      await browser.get(authorizeAddress({ ...parameters, client_id: bidirectional })),
    ];
    for (const { text } of pages) {
      expect(text).toContain('Nice\ufffd\ufffd \ufffd\ufffdא');
      expect(text.replace(/\u2068[^\u2068\u2069]*\u2069/g, '')).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    }
  });
});

describe('security doc', () => {
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
  });

  it('every cookie is set as docs/security.md describes it', async () => {
    for (const served of [https, app]) {
      const browser = served.browser();
      const page = await browser.get('/auth/login');
      const user = await served.user();
      await served.sql("UPDATE users SET locale = 'de' WHERE id = $1", [user.id]);
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
        return served === https
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
});
