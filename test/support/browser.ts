import request, { type Response, type Test } from 'supertest';
import { continuationOf, CookieJar, findForm, formsOf } from '#local/demo/html-form.js';

type Fields = Readonly<Record<string, string>>;

const MAX_HOPS = 12;

/**
 * A user's browser over HTTP, with cookies and forms. Only `open`, `follow` and `allow` follow redirects. A page that
 * continues by itself appears as the redirect that it replaces.
 */
export class Browser {
  readonly cookies = new CookieJar();

  /** @param deliver sends a request, for example with retries */
  constructor(
    private readonly server: Parameters<typeof request>[0],
    private readonly deliver: (send: () => Promise<Response>) => Promise<Response> = (send) => send(),
  ) {}

  get(address: string | URL, headers: Fields = {}): Promise<Response> {
    return this.send(address, headers);
  }

  post(address: string | URL, fields: Fields, headers: Fields = {}): Promise<Response> {
    return this.send(address, headers, fields);
  }

  /** Submits the first form whose action begins with `action`. */
  submit(page: Response, fields: Fields, action = '/auth/', headers: Fields = {}): Promise<Response> {
    const form = formsOf(page.text).find((candidate) => candidate.action.startsWith(action));
    if (!form) throw new Error(`no form for ${action} in a page of status ${page.status}`);
    return this.post(form.action, { ...form.hidden, ...fields }, headers);
  }

  follow(response: Response): Promise<Response> {
    return this.get(targetOf(response));
  }

  /** Follows all redirects. @returns the last response */
  async open(address: string | URL): Promise<Response> {
    let response = await this.get(address);
    for (let hop = 0; response.headers['location'] !== undefined; hop++) {
      if (hop === MAX_HOPS) throw new Error(`more than ${MAX_HOPS} redirects from ${String(address)}`);
      response = await this.follow(response);
    }
    return response;
  }

  /**
   * Logs in and clicks Allow if necessary.
   * @param without checkboxes to clear
   * @returns the redirect to the application
   */
  async allow(
    authorizationUrl: string | URL,
    { email, password }: { readonly email: string; readonly password: string },
    without: readonly string[] = [],
  ): Promise<URL> {
    let url = new URL(authorizationUrl);
    let response = await this.get(url);
    for (let [hop, isLoggedIn] = [0, false]; hop < MAX_HOPS; hop++) {
      if (response.headers['location'] !== undefined) {
        const target = new URL(response.headers['location'], url);
        if (target.origin !== url.origin) return target;
        url = target;
        response = await this.get(url);
      } else if (!isLoggedIn && url.pathname === '/auth/login') {
        const { action, fields } = findForm(response.text, url, 'password');
        response = await this.post(action, { ...fields, username: email, password });
        isLoggedIn = true;
      } else {
        const { action, fields } = findForm(response.text, url, 'decision=allow');
        const kept = Object.entries(fields).filter(([name]) => !without.includes(name));
        response = await this.post(action, { ...Object.fromEntries(kept), decision: 'allow' });
      }
    }
    throw new Error(`no redirect to the application after ${MAX_HOPS} hops: ${url.pathname}`);
  }

  private async send(address: string | URL, headers: Fields, fields?: Fields): Promise<Response> {
    const url = URL.canParse(String(address)) ? new URL(address) : null;
    const agent = request(url?.origin ?? this.server);
    const path = url ? url.pathname + url.search : String(address);
    const response = await this.deliver(() => {
      const test: Test = fields ? agent.post(path).type('form') : agent.get(path);
      const cookie = this.cookies.header();
      if (cookie !== undefined) test.set('Cookie', cookie);
      test.set(headers);
      return (fields ? test.send(new URLSearchParams(fields).toString()) : test).then((answer) => answer);
    });
    this.cookies.store((response.headers['set-cookie'] ?? []) as unknown as string[]);
    const continued = continuationOf(response.text ?? '');
    if (continued !== null) Object.assign(response, { status: 303 }).headers['location'] = continued;
    return response;
  }
}

/** Returns the URL that a browser opens after a response: by a redirect, or by a page that refreshes itself. */
export function targetOf({ headers, text }: Pick<Response, 'headers' | 'text'>): string {
  const refresh = /<meta http-equiv="refresh" content="0; url=([^"]*)"/.exec(text)?.[1];
  return headers['location'] ?? refresh?.replaceAll('&amp;', '&') ?? '';
}

export function wordsOf({ text }: { text: string }): string {
  return text
    .slice(text.indexOf('<main'))
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ');
}

export const statusOf = ({ text }: { text: string }): string | undefined =>
  /<p role="status"[^>]*>(.*?)<\/p>/.exec(text)?.[1];
