import { createHash, randomBytes } from 'node:crypto';
import { CookieJar } from '../demo/cookie-jar.js';
import { findForm, type PageForm } from '../demo/page-form.js';
import { type Client, type Person, REDIRECT_URI } from './installation.js';
import { isRefusal, type Requests, type Try } from './requests.js';
import type { Operation, Timeline } from './timeline.js';
import type { Violate } from './violations.js';

/** A code, and what its client needs to redeem it. */
export interface Authorization {
  readonly code: string;
  readonly verifier: string;
  /** When the request was sent that was answered with it. */
  readonly issuedAt: number;
}

/** The service broke a promise, and that is reported; the actor begins anew. */
export class Reported extends Error {}

/** Hops from the first page to the application: login, its answer, consent, its answer, and once more all of it. */
const HOPS = 12;

/** A person in front of a browser: logs in, allows, takes it back, logs out. */
export class Browser {
  private cookies = new CookieJar();
  /** When the login was sent that this browser lives by; null when it is logged out, or may be. */
  private loggedInAt: number | null = null;

  constructor(
    private readonly requests: Requests,
    private readonly timeline: Timeline,
    private readonly violate: Violate,
    private readonly person: Person,
    private readonly origin: string,
    private readonly over: () => boolean,
  ) {}

  /** Follows an application's link, logs in where that is asked, and clicks Allow. */
  async authorize(client: Client): Promise<Authorization> {
    const [state, verifier] = [randomBytes(16).toString('hex'), randomBytes(32).toString('base64url')];
    const query = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    let url = this.url(`/auth/oauth2/authorize?${query.toString()}`);
    for (let hop = 0; hop < HOPS; hop++) {
      let one = await this.visit('page', url);
      if (one.status === 200) {
        const form = findForm(one.text, url, 'decision=allow');
        one = await this.visit('allow', form.action, { ...form.fields, decision: 'allow' });
      }
      const location = one.headers.get('location');
      // Asked again, as somebody who has waited for too long is.
      if (location === null) continue;
      if (location.startsWith(REDIRECT_URI)) return this.codeOf(one, new URL(location), { state, verifier });
      url = new URL(location, url);
      if (url.pathname === '/auth/login') url = await this.logIn(url, one);
    }
    throw this.reported('a page leads to the application', `after ${HOPS} hops it led to ${url.pathname}`);
  }

  /**
   * Takes back on the page of connected applications what a client may do.
   *
   * @param asked called when that is asked for
   * @returns when it was answered
   */
  async revoke(client: Client, asked: (at: number) => void): Promise<number> {
    const url = this.url(`/auth/apps/revoke?client_id=${client.client_id}`);
    for (;;) {
      const page = await this.loggedIn(url);
      const location = page.headers.get('location');
      if (location !== null)
        throw this.reported('a connected application can be disconnected', `it leads to ${location}`, [page]);
      const form = findForm(page.text, url, 'client_id');
      asked(this.timeline.now());
      const tries: Try[] = [];
      const answer = await this.visit('revoke at /auth/apps', form.action, form.fields, tries);
      await this.patience(tries);
      if (!this.isLogin(answer)) return answer.answeredAt;
      this.lost(answer);
    }
  }

  /** Ends every session, and tries the cookie that is over. */
  async logOutEverywhere(): Promise<void> {
    const front = this.url('/auth/');
    const page = await this.loggedIn(front);
    const form = formTo(page.text, front, '/auth/logout-everywhere');
    const cookies = this.cookies;
    this.cookies = new CookieJar();
    this.loggedInAt = null;
    const tries: Try[] = [];
    await this.visit('log out everywhere', form.action, form.fields, tries, cookies);
    await this.patience(tries);
    const after = await this.visit('page', front, undefined, [], cookies);
    if (!this.isLogin(after)) throw this.reported('a session that was ended is over', undefined, [after]);
  }

  /** A page of the user's own; logs in where that is asked. */
  private async loggedIn(url: URL): Promise<Try> {
    for (;;) {
      const page = await this.visit('page', url);
      if (!this.isLogin(page)) return page;
      await this.logIn(new URL(page.headers.get('location') ?? '', url), page);
    }
  }

  /** @returns where it goes on */
  private async logIn(url: URL, led: Try): Promise<URL> {
    this.lost(led);
    const page = await this.visit('page', url);
    const form = findForm(page.text, url, 'password');
    const { email, password } = this.person;
    const sentAt = this.timeline.now();
    const answer = await this.visit('log in', form.action, { ...form.fields, username: email, password });
    this.loggedInAt = sentAt;
    return new URL(answer.headers.get('location') ?? '', url);
  }

  /** The browser was sent to the login. */
  private lost(led: Try): void {
    const since = this.loggedInAt;
    this.loggedInAt = null;
    if (since === null || this.timeline.lostData(since, led.answeredAt)) return;
    const what = `${this.person.email} had logged in at ${Math.round(since)} ms`;
    this.violate({ rule: 'a login lasts', what, tries: [led], from: since });
  }

  /** A person whose click got no answer waits until all is well before doing what that click would undo. */
  private async patience(tries: readonly Try[]): Promise<void> {
    if (tries.some((one) => isRefusal(one))) await this.timeline.settled(this.over);
  }

  private async visit(
    operation: Exclude<Operation, 'delete a client'>,
    url: URL,
    form?: Record<string, string>,
    tries: Try[] = [],
    cookies = this.cookies,
  ): Promise<Try> {
    const cookie = cookies.header(url);
    const message = {
      path: `${url.pathname}${url.search}`,
      headers: { 'X-Forwarded-For': this.person.address, ...(cookie && { Cookie: cookie }) },
      ...(form && { form }),
    };
    const one = await this.requests.patiently(operation, () => message, tries);
    cookies.store(url, one.headers);
    const expected = form === undefined || operation === 'allow' ? [200, 303] : [303];
    if (!expected.includes(one.status)) throw this.reported('a page is served', undefined, [one]);
    return one;
  }

  private codeOf(
    one: Try,
    location: URL,
    { state, verifier }: { state: string; verifier: string },
  ): Authorization {
    const answer = location.searchParams;
    const code = answer.get('code');
    if (code === null || answer.get('state') !== state)
      throw this.reported('Allow gives a code', `error: ${answer.get('error') ?? 'none'}`, [one]);
    return { code, verifier, issuedAt: one.sentAt };
  }

  private isLogin({ headers }: Try): boolean {
    return headers.get('location')?.startsWith('/auth/login') ?? false;
  }

  private reported(rule: string, what?: string, tries: readonly Try[] = []): Reported {
    const from = tries[0]?.sentAt ?? this.timeline.now();
    this.violate({ rule, tries, from, ...(what !== undefined && { what }) });
    return new Reported(rule);
  }

  private url(path: string): URL {
    return new URL(path, this.origin);
  }
}

/** The form that goes to a path, of several that offer the same. */
function formTo(html: string, page: URL, path: string): PageForm {
  const start = html.indexOf(`action="${path}"`);
  return findForm(html.slice(html.lastIndexOf('<form', start)), page, 'csrf_token');
}
