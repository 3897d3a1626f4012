import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ArgumentsHost, Logger } from '@nestjs/common';
import type { Response } from 'supertest';
import { ERROR_GUIDE, SECTIONS } from '#error-guide/error-guide.js';
import { LOCALES } from '#oauth/locale.js';
import { SCOPES } from '#test/support/app-settings.js';
import type { AuthorizationResponseService } from '../../src/authorize/authorization-response.service.js';
import type { CookieDiagnosisService } from '../../src/session/cookie-diagnosis.service.js';
import { ERROR_KINDS, type ErrorKind } from '../../src/ui/errors/error-kind.js';
import { AuthorizeConfiguration } from '../../src/configuration/authorize.configuration.js';
import { ErrorFilter } from '../../src/error.filter.js';
import { type MessageId, MESSAGES } from '../../src/ui/i18n/messages.js';
import { LanguageService } from '../../src/ui/i18n/language.service.js';
import type { UserPageResponder } from '../../src/ui/user-page.responder.js';
import {
  authorize,
  authorizeAddress,
  PKCE,
  REDIRECT_URI,
  useAuthorizeApp,
  useProxiedAuthorizeApp,
} from '../support/start-authorize-app.js';
import { everyError } from '../support/every-error.js';
import { SECOND_BRAND } from '../ui/scenes/second-brand.js';

describe('error page', () => {
  const used = useProxiedAuthorizeApp({ TRUSTED_PROXIES: 'loopback' });
  const { app, client, user, proxies } = used;
  const pages = everyError(used);

  afterEach(() => proxies.redis.reconnect());

  const redirected: [check: string, parameters: Record<string, string | undefined>][] = [
    ['state_missing', { state: undefined }],
    ['response_type_unsupported', { response_type: 'token' }],
    ['response_mode_unsupported', { response_mode: 'fragment' }],
    ['code_challenge_invalid', { code_challenge: 'short', code_challenge_method: 'S256' }],
    ['dpop_jkt_invalid', { dpop_jkt: 'x' }],
    ['scope_unregistered', { scope: 'nope' }],
    ['resource_unknown', { resource: 'https://nobody.example.com' }],
    ['prompt_invalid', { prompt: 'nope' }],
    ['max_age_invalid', { max_age: '-1' }],
  ];

  const COVERED_BY_OTHER_FILES = {
    'login.spec.ts': ['login_form_incomplete', 'user_unknown', 'password_mismatch'],
    'throttle.spec.ts': ['login_throttled'],
    'device.spec.ts': ['device_answered', 'user_code_throttled', 'user_code_unknown'],
    'gone-user.spec.ts': ['user_disabled'],
    'par.spec.ts': ['push_required'],
    'bad-input.spec.ts': ['body_malformed'],
    'oidc-login.spec.ts': ['login_response_invalid', 'login_cancelled', 'login_unavailable'],
    'login-starts.spec.ts': ['login_starts_exceeded'],
    'attacks.spec.ts': ['login_transaction_invalid'],
    'jwt-login.spec.ts': ['login_user_disabled'],
    'prompt.spec.ts': ['consent_impossible', 'login_impossible', 'login_too_old'],
    'client-credentials.spec.ts': ['grant_type_unregistered'],
    'consent.spec.ts': ['consent_denied'],
    'refresh.spec.ts': ['scope_malformed'],
    'back-channel-logout.spec.ts': ['logout_token_invalid'],
    'authentication-request.spec.ts': [
      'claims_invalid',
      'other_user_logged_in',
      'request_object_unsupported',
      'request_uri_unsupported',
      'response_type_missing',
    ],
    'end-session.spec.ts': ['id_token_hint_invalid', 'post_logout_redirect_uri_unregistered'],
  };

  const text = (id: MessageId) => MESSAGES.en[id];
  const h1Of = ({ text: page }: Response) => /<h1>([^<]*)<\/h1>/.exec(page)?.[1];

  describe.each(pages)('%s', (_what, check, kind, provoke) => {
    it('has a page with a link', async () => {
      const main = /<main[^]*<\/main>/.exec((await provoke()).text)?.[0];
      expect(main).toMatch(/<a class="(button|alone)" href="[^"]/);
    });

    it('has a specific page that states who can fix the error and how', async () => {
      const page = await provoke();
      const { party, advice } = ERROR_KINDS[kind];
      expect(page.status).toBeGreaterThanOrEqual(400);
      expect(page.headers['location']).toBeUndefined();
      expect(h1Of(page)).toBe(text(`error.${kind}.title`));
      expect(page.text).toContain(`<title>Error: ${text(`error.${kind}.title`)}`);
      expect(page.text).toContain(text(`error.party.${party ?? 'nobody'}`));
      expect(page.text).toContain(text(`error.advice.${advice}`));
      expect(page.text).toMatch(/Reference: <code>[\w-]{12}<\/code>/);
      const details = /<details>([\s\S]*)<\/details>/.exec(page.text)?.[1] ?? '';
      expect(details).toMatch(
        /<dd><code>(invalid_request|unauthorized_client|access_denied|not_found|method_not_allowed|[a-z]+_(error|unavailable))<\/code>/,
      );
      if (check === null) expect(details).not.toContain('Failed check');
      else expect(details).toContain(`<dd><code>${check}</code></dd>`);
      expect(Buffer.byteLength(page.text)).toBeLessThan(30_000);
    });
  });

  it.each(redirected)(
    'a request that fails the check %s is redirected to the application, without an error page',
    async (_check, parameters) => {
      const { status, headers } = await authorize(app, client, parameters);
      expect(status).toBe(303);
      expect(headers['location']).toMatch(/^https:\/\/app\.example\.com\/callback\?.*error=/);
    },
  );

  it('a request with a repeated parameter is redirected to the application, without an error page', async () => {
    const address = authorizeAddress({ client_id: client.clientId, redirect_uri: REDIRECT_URI, state: 's' });
    const { headers } = await app.browser().get(`${address}&scope=profile:read&scope=profile:read`);
    expect(headers['location']).toMatch(/^https:\/\/app\.example\.com\/callback\?.*error=invalid_request/);
  });

  /** Lists of all names, and checks of the token endpoints. */
  const ELSEWHERE = /^(reasons|ui\/errors\/error-kind|client-assertion\/.*|dpop\/.*)\.ts$/;

  // Other states of codes, such as `expired`, are also names of outcomes.
  const { 'Error codes': _codes, 'Codes and tokens': _grants, ...REQUESTS } = SECTIONS;
  const EXPLAINED: ReadonlySet<string> = new Set([
    'scope_malformed',
    ...Object.values(REQUESTS).flatMap((entries) => Object.keys(entries)),
  ]);

  it('these tests cover every check in the sources', () => {
    const root = fileURLToPath(new URL('../../../../', import.meta.url));
    const sources = ['apps/authorize/src', 'libs/oauth/src'].flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !ELSEWHERE.test(file))
        .map((file) => readFileSync(`${root}${folder}/${file}`, 'utf8')),
    );
    // A reason is the name of a check, perhaps with a variant after a dot.
    const checks = sources
      .flatMap((source) => [...source.matchAll(/'(\w+)(?:\.\w+)?'/g)].map(([, check = '']) => check))
      .filter((check) => EXPLAINED.has(check));
    const covered = [
      ...pages.map(([, check]) => check),
      ...redirected.map(([check]) => check),
      ...Object.values(COVERED_BY_OTHER_FILES).flat(),
    ].filter((check) => check !== null);
    expect([...new Set(checks)].toSorted()).toEqual([...new Set(covered)].toSorted());
  });

  it('these tests cover every kind of error, except the kinds that other test files cover', () => {
    const shown = new Set(pages.map(([, , kind]) => kind));
    const kinds = Object.keys(ERROR_KINDS) as ErrorKind[];
    expect(kinds.filter((kind) => !shown.has(kind))).toEqual([
      // client-document.spec.ts covers this kind.
      'client_document',
      // end-session.spec.ts covers these kinds.
      'logout_malformed',
      'logout_client_missing',
      'logout_redirect',
      // cookie-diagnosis.spec.ts covers these kinds.
      'logged_in_elsewhere',
      'cookie_host',
      'cookie_http',
      'cookie_https',
      // oidc-login.spec.ts and chromium-oidc.long.spec.ts cover these kinds.
      'login_outdated',
      'login_cancelled',
      'login_refused',
      'login_disabled',
      'login_unavailable',
    ]);
  });

  it.each(LOCALES)('every kind of error has its own title in %s', async (locale) => {
    const titles = Object.keys(ERROR_KINDS).map(
      (kind) => MESSAGES[locale][`error.${kind as ErrorKind}.title`],
    );
    expect(new Set(titles).size).toBe(titles.length);
    const page = await app.browser().get('/auth/nothing', { 'Accept-Language': locale });
    expect(h1Of(page)).toBe(MESSAGES[locale]['error.not_found.title']);
    expect(page.headers['content-language']).toBe(locale);
  });

  it.each(LOCALES)('the page for an unknown path links to the account page in %s', async (locale) => {
    const { text: page } = await app.browser().get('/nothing', { 'Accept-Language': locale });
    expect(page).toContain(`<a class="alone" href="/auth/">${MESSAGES[locale]['account.title']}</a>`);
  });

  it('a path with the syntax of a route pattern gets 404', async () => {
    const page = await app.browser().get('/:a(');
    expect([page.status, h1Of(page)]).toEqual([404, MESSAGES.en['error.not_found.title']]);
  });

  it('an error page offers to retry the failed request', async () => {
    const browser = await app.loggedIn(user);
    proxies.redis.disconnect();
    const address = authorizeAddress({
      client_id: client.clientId,
      redirect_uri: REDIRECT_URI,
      state: 's',
      ...PKCE,
    });
    const page = await browser.get(address);
    expect(page.status).toBe(503);
    expect(page.text).toContain(`<a class="button" href="${address.replaceAll('&', '&amp;')}">Try again</a>`);
  });

  it('errors that only the application’s developer can fix do not advise a retry', () => {
    const unfixable = ['client_missing', 'client_unknown', 'redirect_missing', 'redirect_mismatch'] as const;
    for (const kind of [...unfixable, 'request_malformed'] as const)
      expect(ERROR_KINDS[kind]).toEqual({ party: 'application', advice: 'contact_developer' });
    expect(text('error.advice.contact_developer')).toContain('Trying again will not help.');
  });

  it('the error for overload advises the user to wait', () => {
    expect(ERROR_KINDS.busy).toEqual({ party: null, advice: 'wait' });
  });

  it('an error page that cannot be rendered closes the connection without stopping the process', async () => {
    const broken = {
      page: () => {
        throw new TypeError('no page');
      },
    } as unknown as UserPageResponder;
    const nobody = {} as AuthorizationResponseService;
    const silent = { diagnose: async () => null } as unknown as CookieDiagnosisService;
    const language = new LanguageService(
      { brand: new AuthorizeConfiguration().brand, secure: false },
      SCOPES,
    );
    const filter = new ErrorFilter(language, broken, nobody, silent);
    let ended = false;
    const reply = { headers: () => reply, raw: { destroy: () => (ended = true) } };
    const request = { url: '/', headers: {}, raw: {}, server: { hasRoute: () => false } };
    const host = { switchToHttp: () => ({ getRequest: () => request, getResponse: () => reply }) };
    Logger.overrideLogger(false);
    await expect(filter.catch(new Error('first'), host as unknown as ArgumentsHost)).resolves.toBeUndefined();
    expect(ended).toBe(true);
  });
});

describe('error guide', () => {
  const { app } = useAuthorizeApp(SECOND_BRAND);
  const guide = (headers = {}) => app.browser().get('/auth/errors', headers);

  describe('the error reference page (RFC 6749 5.2, error_uri)', () => {
    it('has an entry for the error_uri of every error', async () => {
      const { status, text } = await guide();
      expect(status).toBe(200);
      const ids = [...text.matchAll(/<article id="([^"]+)"/g)].map(([, id]) => id);
      expect(ids).toEqual(ERROR_GUIDE.flatMap(({ entries }) => entries.map(({ anchor }) => anchor)));
    });

    it('shows the configured brand', async () => {
      const { text } = await guide();
      expect(text).toContain(`· ${SECOND_BRAND.PRODUCT_NAME}</title>`);
      expect(text).toContain(`alt="${SECOND_BRAND.PRODUCT_NAME}"`);
      expect(text).toContain(SECOND_BRAND.ACCENT_COLOR);
      expect(text).toContain(`href="${SECOND_BRAND.HELP_URL}"`);
    });

    it.each(LOCALES)('is in the language of the user, and marks the English entries: %s', async (locale) => {
      const { text, headers } = await guide({ 'Accept-Language': locale });
      expect(headers['content-language']).toBe(locale);
      expect(text).toContain(`<h1>${MESSAGES[locale]['guide.title']}</h1>`);
      expect(text.includes(MESSAGES[locale]['guide.english'])).toBe(locale !== 'en');
      expect(text.indexOf('<div lang="en" dir="ltr">')).toBeLessThan(text.indexOf('<article'));
    });

    it('skips no heading level (WCAG 2.2, 1.3.1)', async () => {
      const { text } = await guide();
      const levels = [...text.matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
      expect(levels[0]).toBe(1);
      levels.reduce((before, level) => {
        expect(level).toBeLessThanOrEqual(before + 1);
        return level;
      });
    });

    it('shows backquoted text as code, and escapes HTML', async () => {
      const { text } = await guide();
      expect(text).toContain('<code>Authorization: Bearer &lt;access token&gt;</code>');
      expect(/<main>([^]*)<\/main>/.exec(text)?.[1]).not.toContain('`');
    });
  });
});
