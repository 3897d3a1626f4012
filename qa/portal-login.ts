import { CSRF_FIELD, csrfToken } from '#ui/browser-cookie.js';
import { BrowserCookie, SessionCookie } from '#pages/cookies.js';
import { FORM_ID } from '#pages/form.js';
import { newFormId } from '#pages/form-id.js';
import type { PagesOptions } from '#pages/pages.options.js';
import { SessionStore } from '#pages/session.store.js';
import type { Fixture } from '#test/support/fixture.js';
import type { DeveloperSession } from '../apps/developers/src/developer.js';

/** Owner of applications who is logged in to the portal. */
export interface PortalLogin {
  readonly userId: number;
  readonly cookies: string;
  /** Returns the hidden fields of a form. */
  fieldsOf(path: string): Readonly<Record<string, string>>;
}

export interface PortalClient {
  readonly id: string;
  readonly secret: string;
  readonly url: string;
}

/** Stores a session, as the portal does after a login. @param given id of the user; absent for a new user */
export async function logInToPortal(
  fixture: Fixture,
  client: PortalClient,
  given?: number,
): Promise<PortalLogin> {
  const userId = given ?? (await fixture.user());
  const { id: clientId, secret: clientSecret, url } = client;
  const others = { issuer: '', scope: '', clockSkew: 0, keepsToken: true, invalidMetadata: '' };
  const options: PagesOptions = {
    app: 'developers',
    url,
    login: { clientId, clientSecret, ...others },
    changedNothing: () => false,
  };
  const [sessionCookie, browserCookie] = [new SessionCookie(options), new BrowserCookie(options)];
  const [cookie, browser] = [sessionCookie.generate(), browserCookie.generate()];
  const sessions = new SessionStore<DeveloperSession>(
    fixture.redis,
    sessionCookie,
    browserCookie,
    options,
    Date.now,
  );
  await sessions.create(cookie, {
    subject: String(userId),
    name: 'Ada <b>"Fuzz"</b>',
    authTime: Date.now(),
    startedAt: Date.now(),
    idToken: null,
    token: await fixture.code(client.id, userId, { scope: 'openid' }),
    locale: null,
  });
  const formKey = browserCookie.formKey(browser, String(userId));
  return {
    userId,
    cookies: [sessionCookie.set(cookie), browserCookie.set(browser)]
      .map((line) => line.split(';', 1)[0] ?? '')
      .join('; '),
    fieldsOf: (path) => ({
      [CSRF_FIELD]: csrfToken(formKey, path),
      [FORM_ID]: newFormId(browserCookie.formIdKey(browser)),
    }),
  };
}
