import { CookieJar } from '#local/demo/cookie-jar.js';
import { findForm } from '#local/demo/page-form.js';
import type { Installation, User } from './installation.js';
import { type Outcome, retryUntilAvailable } from './retry.js';

/** A user's browser. After the first login and consent, later authorization requests need no click. */
export class Browser {
  private readonly cookies = new CookieJar();

  constructor(
    private readonly installation: Installation,
    private readonly user: User,
  ) {}

  /** Logs in and clicks Allow. @returns the code */
  async allow(): Promise<string> {
    const start = this.start();
    const loginUrl = target(await this.visit(start), start);
    const login = findForm((await this.visit(loginUrl)).text, loginUrl, 'password');
    const { email, password } = this.user;
    const after = await this.visit(login.action, { ...login.fields, username: email, password });
    const consentUrl = target(after, login.action);
    const consent = findForm((await this.visit(consentUrl)).text, consentUrl, 'decision=allow');
    return codeOf(await this.visit(consent.action, { ...consent.fields, decision: 'allow' }));
  }

  /** Opens the authorization URL again. @returns the code @throws unless it redirects to the application */
  async code(): Promise<{ code: string; visit: Outcome }> {
    const visit = await this.visit(this.start());
    return { code: codeOf(visit), visit };
  }

  private start(): URL {
    const { client_id, redirect_uri } = this.installation.client;
    const query = new URLSearchParams({
      client_id,
      redirect_uri,
      response_type: 'code',
      state: 'a-state-of-its-own',
    });
    return new URL(`${this.installation.authorizeUrl}/auth/oauth2/authorize?${query.toString()}`);
  }

  private visit(url: URL, form?: Record<string, string>): Promise<Outcome> {
    return retryUntilAvailable(async () => {
      const answer = await fetch(url, {
        redirect: 'manual',
        headers: { Cookie: this.cookies.header(url) ?? '' },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      });
      this.cookies.store(url, answer.headers);
      return answer;
    });
  }
}

function target({ location }: Outcome, from: URL): URL {
  return new URL(location ?? '', from);
}

function codeOf({ status, location }: Outcome): string {
  const code = location === null ? null : new URL(location, 'http://nowhere').searchParams.get('code');
  if (code === null) throw new Error(`no code: ${status} ${location?.split('?')[0] ?? ''}`);
  return code;
}
