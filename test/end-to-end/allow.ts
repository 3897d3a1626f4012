import { CookieJar } from '#local/demo/cookie-jar.js';
import { findForm } from '#local/demo/page-form.js';
import type { RunFile } from '#local/demo/run-file.js';

/**
 * Opens an authorization URL in a new browser, logs in, and clicks Allow if necessary.
 *
 * @param without the checkboxes of the consent page that stay empty
 * @returns the address at the application to which the browser is sent
 */
export async function allow(
  { user }: Pick<RunFile, 'user'>,
  authorizationUrl: string | URL,
  without: readonly string[] = [],
): Promise<URL> {
  const cookies = new CookieJar();
  const visit = async (url: URL, form?: Record<string, string>): Promise<Response> => {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { Cookie: cookies.header(url) ?? '' },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    cookies.store(url, answer.headers);
    return answer;
  };
  const target = (answer: Response, from: URL) => new URL(answer.headers.get('location') ?? '', from);

  const start = new URL(authorizationUrl);
  const loginUrl = target(await visit(start), start);
  const login = findForm(await (await visit(loginUrl)).text(), loginUrl, 'password');
  const loggedIn = await visit(login.action, {
    ...login.fields,
    username: user.email,
    password: user.password,
  });
  const consentUrl = target(loggedIn, login.action);
  const page = await visit(consentUrl);
  // No consent page for scopes that were allowed before.
  if (page.status === 303) return target(page, consentUrl);
  const consent = findForm(await page.text(), consentUrl, 'decision=allow');
  const fields = Object.entries(consent.fields).filter(([name]) => !without.includes(name));
  const decision = { ...Object.fromEntries(fields), decision: 'allow' };
  return target(await visit(consent.action, decision), consent.action);
}
