import { request as httpRequest } from 'node:http';
import { LIMITS } from '#oauth/parameters.js';
import { LOCALES } from '#oauth/locale.js';
import { cpuTime } from '#test/support/process-tree.js';
import { authorizeAddress, PASSWORD, REDIRECT_URI, useAuthorizeApp } from '../support/start-authorize-app.js';
import type { Browser } from '#test/support/browser.js';
import { storePushed } from '../support/use-pushed-requests.js';
import { LanguageCookie } from '#ui/i18n.js';

const { app, client, user } = useAuthorizeApp();

interface Page {
  readonly text: string;
  readonly headers: Record<string, string>;
}

function languageOf({ text, headers }: Page): string {
  const [, lang, dir] = /<html lang="(\w+)" dir="(\w+)">/.exec(text) ?? [];
  expect(dir).toBe(lang === 'ar' ? 'rtl' : 'ltr');
  expect(headers['content-language']).toBe(lang);
  return lang ?? '';
}

const login = (acceptLanguage: string, query = '') =>
  app.browser().get(`/auth/login${query}`, { 'Accept-Language': acceptLanguage });
const request = (more: Record<string, string> = {}) =>
  authorizeAddress({
    client_id: client.clientId,
    redirect_uri: REDIRECT_URI,
    state: 's',
    prompt: 'consent',
    ...more,
  });

async function loggedInWith(locale: string) {
  const person = await app.user();
  await app.sql('UPDATE users SET locale = $2 WHERE id = $1', [person.id, locale]);
  return app.loggedIn(person);
}

describe('the browser’s languages (RFC 9110 12.5.4)', () => {
  it.each(LOCALES)(
    'determine the language, the direction and the Content-Language of the page: %s',
    async (locale) => {
      expect(languageOf(await login(locale))).toBe(locale);
    },
  );

  it.each([
    ['pt-BR,pt;q=0.9,en;q=0.8', 'pt'],
    ['de-CH-1996', 'de'],
    ['en;q=0.1, ar-EG', 'ar'],
    ['zh-Hans, sv, ja;q=0.3, fr;q=0.2', 'ja'],
    ['zh, sv', 'en'],
    ['*', 'en'],
    ['de;q=0, fr', 'fr'],
    ['', 'en'],
    [';;;,q=,;q=x,-', 'en'],
    ['x-klingon, i-default, de', 'de'],
    // Language tags of 35 and 36 characters (RFC 5646 4.4.1).
    ['de-x-aaaaaaaa-bbbbbbbb-cccccccc-ddd, fr', 'de'],
    ['de-x-aaaaaaaa-bbbbbbbb-cccccccc-dddd, fr', 'fr'],
  ])('determine the language: %j yields %s', async (header, locale) => {
    expect(languageOf(await login(header))).toBe(locale);
  });

  it('determine the language of error pages', async () => {
    const page = await app.browser().get('/auth/oauth2/authorize', { 'Accept-Language': 'es' });
    expect(page.status).toBe(400);
    expect(languageOf(page)).toBe('es');
  });
});

describe('the language setting of a user', () => {
  it.each(['/auth/', '/auth/apps', '/auth/apps?ui_locales='])(
    'takes precedence over the browser’s languages on %s',
    async (path) => {
      const browser = await loggedInWith('de');
      expect(languageOf(await browser.get(path, { 'Accept-Language': 'fr' }))).toBe('de');
    },
  );

  it('takes precedence over the browser’s languages on the consent page', async () => {
    const browser = await loggedInWith('ja');
    expect(languageOf(await browser.get(request(), { 'Accept-Language': 'fr' }))).toBe('ja');
  });
});

describe('the language cookie', () => {
  const accept = { 'Accept-Language': 'fr' };
  const errorOf = async (browser: Browser) => languageOf(await browser.get('/auth/oauth2/authorize', accept));

  it('applies to error pages, and to the login page after a logout', async () => {
    const browser = await loggedInWith('de');
    expect(await errorOf(browser)).toBe('de');
    const out = await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    expect(languageOf(await browser.get(out.headers['location'] ?? '', accept))).toBe('de');
    expect(languageOf(await browser.get('/auth/login?ui_locales=es', accept))).toBe('es');
  });

  it('is set when the user saves a language, and deleted when the user resets the setting', async () => {
    const browser = await app.loggedIn(await app.user());
    const save = async (locale: string) =>
      browser.submit(await browser.get('/auth/', accept), { locale }, '/auth/language');
    expect((await save('browser')).headers['set-cookie']).toBeUndefined();
    await save('ja');
    expect(await errorOf(browser)).toBe('ja');
    await save('browser');
    expect(browser.cookies.has('oauth_service_language')).toBe(false);
    expect(await errorOf(browser)).toBe('fr');
  });

  it('does not apply to another user without a setting', async () => {
    const browser = await loggedInWith('de');
    const next = await app.user();
    const out = await browser.submit(await browser.get('/auth/'), {}, '/auth/logout');
    const page = await browser.follow(out);
    await browser.submit(page, { username: next.email, password: PASSWORD });
    expect(await errorOf(browser)).toBe('fr');
    browser.cookies.set('oauth_service_language', 'de');
    expect(languageOf(await browser.get('/auth/', accept))).toBe('fr');
  });

  it.each(['xx', 'DE', 'de"><b>', '', 'toString', 'de-CH', 'de'.repeat(3_000)])(
    'is ignored when it is not a language: %j',
    async (value) => {
      const browser = app.browser();
      browser.cookies.set('oauth_service_language', value);
      expect(await errorOf(browser)).toBe('fr');
    },
  );

  it('is read only by its exact name, with the prefix __Host- if cookies are secure', () => {
    const secure = new LanguageCookie(true);
    expect(secure.read('x=1; __Host-language=de; y=2')).toBe('de');
    expect(
      secure.read('language=de; oauth_service_language=de; xlanguage=de; x__Host-language=de'),
    ).toBeNull();
  });
});

describe('ui_locales (OpenID Connect Core 3.1.2.1)', () => {
  it('takes precedence over the setting and the browser on the login and consent pages', async () => {
    const visitor = app.browser();
    const to = await visitor.get(request({ ui_locales: 'fr-CA fr en' }));
    const headers = { 'Accept-Language': 'ja' };
    expect(languageOf(await visitor.get(to.headers['location'] ?? '', headers))).toBe('fr');
    const browser = await loggedInWith('de');
    expect(languageOf(await browser.get(request({ ui_locales: 'fr-CA fr en' }), headers))).toBe('fr');
  });

  it('selects its first supported language, and has no effect without a supported language', async () => {
    const browser = await loggedInWith('de');
    expect(languageOf(await browser.get(request({ ui_locales: 'tlh sv es' })))).toBe('es');
    expect(languageOf(await browser.get(request({ ui_locales: 'tlh sv' })))).toBe('de');
  });

  // @deviation D31
  it.each(['fr_CA', 'tlh,fr-FR, de', 'fr_CA.UTF-8,fr', ',_, fr'])(
    'may have underscores and commas: %s',
    async (ui_locales) => {
      expect(languageOf(await (await loggedInWith('de')).get(request({ ui_locales })))).toBe('fr');
    },
  );

  it('is ignored if it is longer than its maximum length', async () => {
    const longest = `tlh de${' x'.repeat(97)}`;
    expect(longest).toHaveLength(LIMITS.ui_locales);
    const withLocales = (list: string) => login('fr', `?ui_locales=${encodeURIComponent(list)}`);
    expect(languageOf(await withLocales(longest))).toBe('de');
    expect(languageOf(await withLocales(`${longest} `))).toBe('fr');
  });

  it('is read from a pushed request', async () => {
    const parameters = { redirect_uri: REDIRECT_URI, state: 's', prompt: 'consent', ui_locales: 'pt' };
    const requestUri = await storePushed(app.redis, client.clientId, parameters);
    const browser = await loggedInWith('de');
    const address = authorizeAddress({ client_id: client.clientId, request_uri: requestUri });
    expect(languageOf(await browser.get(address))).toBe('pt');
  });

  it.each(['%00', '%F0%9F', '%22%3E%3Cscript%3E', 'de_DE', '--', 'e', 'x'.repeat(500), '../../en'])(
    'causes no error if it is not a language: %s',
    async (tag) => {
      const page = await login('fr', `?ui_locales=${tag}`);
      expect(page.status).toBe(200);
      expect(['fr', 'de']).toContain(languageOf(page));
      expect(page.text).not.toContain('<script>');
    },
  );
});

describe('an abusive Accept-Language header', () => {
  it.each([
    ['many languages', Array.from({ length: 2_000 }, (_, n) => `x${n}`).join(',')],
    ['one endless language', 'a-'.repeat(7_000)],
    ['endless qualities', `de${';q=0.5'.repeat(2_000)}`],
  ])('costs less than 100 ms more than a normal header: %s in 14 KB', async (_name, header) => {
    const time = async (acceptLanguage: string) => {
      const start = cpuTime();
      expect((await login(acceptLanguage)).status).toBe(200);
      return cpuTime() - start;
    };
    const fastest = { plain: Infinity, long: Infinity };
    // Takes the minimum of alternating measurements, because other work of this process adds to some of them.
    for (let round = 0; round < 20; round += 1) {
      fastest.plain = Math.min(fastest.plain, await time('de'));
      fastest.long = Math.min(fastest.long, await time(header.slice(0, 14_000)));
    }
    expect(fastest.long).toBeLessThan(fastest.plain + 100);
  });

  it('is rejected before it is parsed if it is 20 KB long, and does not affect other requests', async () => {
    const { hostname, port } = new URL(app.url);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'Accept-Language': 'de,'.repeat(7_000) };
      httpRequest({ hostname, port, path: '/auth/login', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(431);
    expect(languageOf(await login('de'))).toBe('de');
  });
});

it('every account page is available in every language and smaller than 30 KiB', async () => {
  const browser = await app.loggedIn(user);
  const page = await browser.get(request());
  await browser.submit(page, { decision: 'allow' }, '/auth/oauth2/authorize');
  const paths = [
    '/auth/',
    '/auth/apps',
    `/auth/apps/revoke?client_id=${client.clientId}`,
    '/auth/apps/revoke-all',
  ];
  for (const locale of LOCALES)
    for (const path of paths) {
      const answer = await browser.get(`${path}${path.includes('?') ? '&' : '?'}ui_locales=${locale}`);
      expect(answer.status).toBe(200);
      expect(languageOf(answer)).toBe(locale);
      expect(answer.text.match(/<h1>/g)).toHaveLength(1);
      expect(Buffer.byteLength(answer.text)).toBeLessThan(30 * 1024);
    }
});
