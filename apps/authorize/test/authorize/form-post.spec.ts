import type { Response } from 'supertest';
import {
  authorizeAddress,
  BASE_URL,
  PKCE,
  REDIRECT_URI,
  useAuthorizeApp,
} from '../support/start-authorize-app.js';
import { formsOf } from '#local/demo/html-form.js';

const { app, client } = useAuthorizeApp();

const STATE = `a"b'c<d>&amp;e\`f</form></script><script>alert(1)</script>\u202eg\u2069 %00%22+é`;

const address = (more: Readonly<Record<string, string>> = {}) =>
  authorizeAddress({
    client_id: client.clientId,
    redirect_uri: REDIRECT_URI,
    state: STATE,
    response_mode: 'form_post',
    ...more,
  });

function postedBy(answer: Response): Record<string, string> {
  expect([answer.status, answer.headers['location']]).toEqual([200, undefined]);
  expect(answer.headers['cache-control']).toBe('no-store');
  const forms = formsOf(answer.text);
  expect(forms.map(({ action }) => action)).toEqual([REDIRECT_URI]);
  return forms[0]?.fields ?? {};
}

const ERROR = {
  error_description: expect.any(String),
  error_uri: expect.stringContaining(`${BASE_URL}/`),
  error_reference: expect.any(String),
  state: STATE,
  iss: BASE_URL,
};

// @oauth form post 2
describe('the form_post response mode', () => {
  it('posts a code after Allow, and another code because the user consented earlier', async () => {
    const browser = await app.loggedIn(await app.user());
    const consent = await browser.get(address());
    const allowed = await browser.submit(consent, { decision: 'allow' }, '/auth/oauth2/authorize');
    const again = await browser.get(address());
    const codes = [allowed, again].map((answer) => {
      const { code, ...others } = postedBy(answer);
      expect(code).toMatch(/^sac_/);
      expect(others).toEqual({ state: STATE, iss: BASE_URL });
      return code;
    });
    expect(new Set(codes).size).toBe(2);
  });

  it('posts the error after Cancel', async () => {
    const browser = await app.loggedIn(await app.user());
    const denied = await browser.submit(
      await browser.get(address()),
      { decision: 'deny' },
      '/auth/oauth2/authorize',
    );
    expect(postedBy(denied)).toEqual({ error: 'access_denied', ...ERROR });
  });

  it.each([
    ['prompt=none without a login', 'login_required', { prompt: 'none' }],
    ['an unknown scope', 'invalid_scope', { scope: 'nope' }],
    ['another response_type', 'unsupported_response_type', { response_type: 'token' }],
    ['an invalid challenge', 'invalid_request', { ...PKCE, code_challenge: 'short' }],
    ['a max_age that is not a number', 'invalid_request', { max_age: 'x' }],
  ])('posts the error for %s', async (_name, error, more) => {
    const posted = postedBy(await app.browser().get(address(more)));
    expect(posted).toEqual({ error, ...ERROR });
  });

  it('posts the error for prompt=none without consent', async () => {
    const browser = await app.loggedIn(await app.user());
    const posted = postedBy(await browser.get(address({ prompt: 'none' })));
    expect(posted).toEqual({ error: 'consent_required', ...ERROR });
  });

  it('posts the error for a request without state, and does not post a state', async () => {
    const { state: _, ...others } = ERROR;
    const posted = postedBy(await app.browser().get(address({ state: '' })));
    expect(posted).toEqual({ error: 'invalid_request', ...others });
  });
});

describe('the page that posts a response', () => {
  it('contains no value of the request as markup', async () => {
    const { text } = await app.browser().get(address({ prompt: 'none' }));
    const main = text.slice(text.indexOf('<main>'));
    expect(main.match(/<script|<\/script/g)).toBeNull();
    expect(main.match(/<form /g)).toHaveLength(1);
    expect(main.match(/<input /g)).toHaveLength(6);
    for (const [, value = ''] of main.matchAll(/ value="([^"]*)"/g)) expect(value).not.toMatch(/[<>"'`]/);
  });

  it('shows the escaped name of the application in every language', async () => {
    const name = `<b>"Mallory's"</b>`;
    const { clientId } = await app.client({ name });
    const languages = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'];
    const titles = await Promise.all(
      languages.map(async (locale) => {
        const more = { client_id: clientId, prompt: 'none', ui_locales: locale };
        const { text, headers } = await app.browser().get(address(more));
        expect(headers['content-language']).toBe(locale);
        expect(text).not.toContain('<b>"Mallory');
        return /<button[^>]*>([^<]*)<\/button>/.exec(text)?.[1];
      }),
    );
    expect(titles[0]).toBe('Continue to &lt;b&gt;&quot;Mallory&#39;s&quot;&lt;/b&gt;');
    expect(new Set(titles).size).toBe(languages.length);
  });

  it('may submit its form to any site, which may redirect to any URL, and runs only scripts of this site', async () => {
    const { headers } = await app.browser().get(address({ prompt: 'none' }));
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).not.toContain('form-action');
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
  });
});

describe('response_mode=form_post', () => {
  it('is refused with a redirect for a redirect URI with a private-use scheme', async () => {
    const redirectUri = 'com.example.app:/callback';
    const { clientId } = await app.client({ type: 'public' }, redirectUri);
    const request = { client_id: clientId, redirect_uri: redirectUri, ...PKCE };
    const { status, headers } = await app.browser().get(address(request));
    expect(status).toBe(303);
    const location = headers['location'] ?? '';
    expect(location).toMatch(/^com\.example\.app:\/callback\?error=invalid_request&/);
    expect(decodeURIComponent(location)).toContain('form_post needs an http or https redirect URI');
  });

  it('is refused with an error page for an unregistered redirect URI', async () => {
    const answer = await app.browser().get(address({ redirect_uri: 'https://evil.example.org/' }));
    expect(answer.status).toBe(400);
    expect(formsOf(answer.text)).toEqual([]);
  });

  it('is refused with a redirect if it is repeated or written in another case', async () => {
    for (const query of [`${address()}&response_mode=query`, address({ response_mode: 'Form_Post' })]) {
      const { status, headers } = await app.browser().get(query);
      expect(status).toBe(303);
      expect(headers['location']).toContain('error=invalid_request');
    }
  });
});
