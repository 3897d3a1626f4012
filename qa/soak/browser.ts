import { createHash, randomBytes } from 'node:crypto';
import { OAuthClient } from '#local/demo/oauth-client.js';
import { continuationOf, CookieJar, findForm, formsOf } from '#local/demo/html-form.js';
import { OPENID_SCOPE, type RegisteredClient, type User, REDIRECT_URI } from './installation.js';
import { isUnavailable, type Requests, type Attempt } from './requests.js';
import type { ClientOperation, Timeline } from './timeline.js';
import type { Violate } from './violations.js';

/** A code after the user's consent; a device code for a device (RFC 8628). */
export interface Authorization {
  readonly code: string;
  /** PKCE code verifier; undefined for a device. */
  readonly verifier: string | undefined;
  /** Time at which the request for the code was sent. */
  readonly issuedAt: number;
  /** Undefined for a device, or without the scope `openid`. */
  readonly nonce: string | undefined;
  readonly session: number;
}

export interface DeviceRequest {
  readonly deviceCode: string;
  /** Page with the user code (RFC 8628 3.3.1). */
  readonly page: string;
  readonly requestedAt: number;
}

/** Ends a step after a reported violation, so that the actor starts its next step. */
export class ViolationReported extends Error {}

/** Statuses after a form is submitted. An expired form is shown again (200). A device code may be lost (400). */
const FORM_STATUSES: Partial<Record<ClientOperation, readonly number[]>> = {
  allow: [200, 303],
  'enter a device code': [200, 303, 400],
  'allow a device': [200, 303, 400],
};

/** Login and consent take four hops, some of which are repeated if the session is lost. */
const MAX_HOPS = 12;

export class Browser {
  private cookies = new CookieJar();
  /** Null if the session has ended, or may have ended. */
  private loggedInAt: number | null = null;
  private session = 0;

  constructor(
    private readonly requests: Requests,
    private readonly timeline: Timeline,
    private readonly violate: Violate,
    private readonly user: User,
    private readonly origin: string,
    private readonly hasEnded: () => boolean,
  ) {}

  async authorize(client: RegisteredClient): Promise<Authorization> {
    const nonce = client.isOpenId ? randomBytes(16).toString('base64url') : undefined;
    const verifier = randomBytes(32).toString('base64url');
    let url = new OAuthClient(client, REDIRECT_URI, () => undefined).authorizationUrl(this.origin, {
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...(nonce !== undefined && { scope: OPENID_SCOPE, nonce }),
    });
    const state = url.searchParams.get('state') ?? '';
    for (let hop = 0; hop < MAX_HOPS; hop++) {
      let attempt = await this.visit('page', url);
      if (attempt.status === 200) {
        const form = findForm(attempt.text, url, 'decision=allow');
        attempt = await this.visit('allow', form.action, { ...form.fields, decision: 'allow' });
      }
      const location = attempt.headers.get('location');
      // The submitted consent page had expired, so the response shows the page again.
      if (location === null) continue;
      if (location.startsWith(REDIRECT_URI))
        return this.codeOf(attempt, new URL(location), { state, verifier, nonce });
      url = new URL(location, url);
      if (url.pathname === '/auth/login') url = await this.logIn(url, attempt);
    }
    throw this.report(
      'authorization ends at the application',
      `after ${MAX_HOPS} hops it is at ${url.pathname}`,
    );
  }

  /** @returns null if the request may be lost, so that the device must start again */
  async allowDevice({ deviceCode, page, requestedAt }: DeviceRequest): Promise<Authorization | null> {
    let url = new URL(page);
    const decisions: Attempt[] = [];
    for (let hop = 0; hop < MAX_HOPS; hop++) {
      let attempt = await this.visit('page', url);
      if (attempt.status === 200) {
        const { action, fields } = findForm(attempt.text, url, 'user_code');
        attempt = await this.visit('enter a device code', action, fields);
      }
      if (attempt.status === 200) {
        const { action, fields } = findForm(attempt.text, url, 'decision=allow');
        attempt = await this.visit('allow a device', action, { ...fields, decision: 'allow' }, decisions);
      }
      if (attempt.status === 400) {
        // The response to an earlier click was lost, or Redis has lost the code.
        const isLost =
          decisions.some(isUnavailable) || this.timeline.lostData(requestedAt, attempt.answeredAt);
        if (isLost) return null;
        throw this.report('a user can allow a device', undefined, [attempt]);
      }
      const location = attempt.headers.get('location');
      if (location === null) continue;
      url = new URL(location, url);
      const { session } = this;
      if (url.pathname === '/auth/apps')
        return { code: deviceCode, verifier: undefined, nonce: undefined, issuedAt: requestedAt, session };
      if (url.pathname === '/auth/login') url = await this.logIn(url, attempt);
    }
    throw this.report('a user can allow a device', `after ${MAX_HOPS} hops it is at ${url.pathname}`);
  }

  /** @param onRequest receives the time of the request @returns the time of the response */
  async revoke({ client_id: id }: RegisteredClient, onRequest: (at: number) => void): Promise<number> {
    const url = this.url(`/auth/apps/revoke?client_id=${encodeURIComponent(id)}`);
    const attempts: Attempt[] = [];
    for (;;) {
      const page = await this.visitLoggedIn(url);
      const location = page.headers.get('location');
      // A request without a success may have taken effect before the session was lost.
      if (location !== null && attempts.some(isUnavailable)) return page.answeredAt;
      if (location !== null)
        throw this.report('a connected application can be disconnected', `it redirects to ${location}`, [
          ...attempts,
          page,
        ]);
      const form = findForm(page.text, url, 'client_id');
      onRequest(this.timeline.now());
      const answer = await this.visit('revoke at /auth/apps', form.action, form.fields, attempts);
      await this.waitIfUnanswered(attempts);
      if (!this.isLogin(answer)) return answer.answeredAt;
      this.checkSessionLoss(answer);
    }
  }

  /**
   * Logs out, then checks that the old cookie is invalid.
   *
   * @param onRequest receives the number of the session
   * @returns all attempts
   */
  async logOut(
    operation: 'log out' | 'log out everywhere',
    onRequest: (session: number) => void,
  ): Promise<readonly Attempt[]> {
    const front = this.url('/auth/');
    const page = await this.visitLoggedIn(front);
    const path = operation === 'log out' ? '/auth/logout' : '/auth/logout-everywhere';
    const form = formsOf(page.text).find(({ action }) => action === path);
    onRequest(this.session);
    const cookies = this.cookies;
    this.cookies = new CookieJar();
    this.loggedInAt = null;
    const attempts: Attempt[] = [];
    await this.visit(operation, this.url(path), form?.fields, attempts, cookies);
    await this.waitIfUnanswered(attempts);
    const after = await this.visit('page', front, undefined, [], cookies);
    if (!this.isLogin(after)) throw this.report('an ended session is refused', undefined, [after]);
    return attempts;
  }

  private async visitLoggedIn(url: URL): Promise<Attempt> {
    for (;;) {
      const page = await this.visit('page', url);
      if (!this.isLogin(page)) return page;
      await this.logIn(new URL(page.headers.get('location') ?? '', url), page);
    }
  }

  /** @param redirect response that redirected to the login @returns the redirect target of the login */
  private async logIn(url: URL, redirect: Attempt): Promise<URL> {
    this.checkSessionLoss(redirect);
    const page = await this.visit('page', url);
    const form = findForm(page.text, url, 'password');
    const { email, password } = this.user;
    const sentAt = this.timeline.now();
    const answer = await this.visit('log in', form.action, { ...form.fields, username: email, password });
    this.loggedInAt = sentAt;
    this.session += 1;
    return new URL(answer.headers.get('location') ?? '', url);
  }

  /** Reports a lost session as a violation unless Redis has lost data. */
  private checkSessionLoss(redirect: Attempt): void {
    const since = this.loggedInAt;
    this.loggedInAt = null;
    if (since === null || this.timeline.lostData(since, redirect.answeredAt)) return;
    const detail = `${this.user.email} had logged in at ${Math.round(since)} ms`;
    this.violate({ rule: 'a session lasts', detail, attempts: [redirect], since });
  }

  /** Waits after a request without a response, because the server may still execute it and undo the next step. */
  private async waitIfUnanswered(attempts: readonly Attempt[]): Promise<void> {
    if (attempts.some((attempt) => isUnavailable(attempt))) await this.timeline.settled(this.hasEnded);
  }

  private async visit(
    operation: ClientOperation,
    url: URL,
    form?: Record<string, string>,
    attempts: Attempt[] = [],
    cookies = this.cookies,
  ): Promise<Attempt> {
    const cookie = cookies.header();
    const message = {
      path: `${url.pathname}${url.search}`,
      headers: { 'X-Forwarded-For': this.user.address, ...(cookie && { Cookie: cookie }) },
      ...(form && { form }),
    };
    const attempt = followed(await this.requests.sendUntilAnswered(operation, () => message, attempts));
    cookies.store(attempt.headers.getSetCookie());
    const expected = form === undefined ? [200, 303] : (FORM_STATUSES[operation] ?? [303]);
    if (!expected.includes(attempt.status)) throw this.report('a page is served', undefined, [attempt]);
    return attempt;
  }

  private codeOf(
    attempt: Attempt,
    location: URL,
    { state, ...known }: { state: string; verifier: string; nonce: string | undefined },
  ): Authorization {
    const answer = location.searchParams;
    const code = answer.get('code');
    if (code === null || answer.get('state') !== state)
      throw this.report('Allow returns a code', `error: ${answer.get('error') ?? 'none'}`, [attempt]);
    return { code, ...known, issuedAt: attempt.sentAt, session: this.session };
  }

  private isLogin({ headers }: Attempt): boolean {
    return headers.get('location')?.startsWith('/auth/login') ?? false;
  }

  private report(rule: string, detail?: string, attempts: readonly Attempt[] = []): ViolationReported {
    const since = attempts[0]?.sentAt ?? this.timeline.now();
    this.violate({ rule, attempts, since, ...(detail !== undefined && { detail }) });
    return new ViolationReported(rule);
  }

  private url(path: string): URL {
    return new URL(path, this.origin);
  }
}

/** Shows a page that continues by itself as the redirect that it replaces. */
function followed(attempt: Attempt): Attempt {
  const location = continuationOf(attempt.text);
  if (location === null) return attempt;
  return { ...attempt, status: 303, headers: new Headers([...attempt.headers, ['Location', location]]) };
}
