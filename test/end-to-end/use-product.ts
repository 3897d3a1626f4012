import { randomBytes } from 'node:crypto';
import { OAuthClient, type OAuthRequest, sendTo } from '#local/demo/oauth-client.js';
import type { RunFile } from '#local/demo/run-script.js';
import { Browser } from '../support/browser.js';

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export const allow = ({ user }: Pick<RunFile, 'user'>, url: string | URL, without?: readonly string[]) =>
  new Browser('').allow(url, user, without);

export class ProductUser {
  readonly seen = new Set<string>();
  private readonly client: OAuthClient<Promise<Answer>>;

  constructor(private readonly run: RunFile) {
    const { client, user } = run;
    this.client = new OAuthClient(client, client.redirect_uri, (request) => this.send(request));
    this.saw(client.client_id, client.client_secret, client.redirect_uri, user.email, user.password);
  }

  async code(): Promise<string> {
    const url = this.client.authorizationUrl(this.run.auth_url, { scope: 'profile:read' });
    const callback = await allow(this.run, url);
    const code = callback.searchParams.get('code') ?? '';
    this.saw(url.searchParams.get('state') ?? '', code);
    return code;
  }

  redeem(code: string): Promise<Answer> {
    return this.client.redeem(code);
  }

  refresh(refreshToken: unknown): Promise<Answer> {
    return this.client.refresh(String(refreshToken));
  }

  revoke(token: unknown): Promise<Answer> {
    return this.client.revoke(String(token));
  }

  async me(token: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const authorization = typeof token === 'string' ? { Authorization: `Bearer ${token}` } : {};
    // The query contains a random code, which must not appear in traces or logs.
    const path = `/v2/me?code=${randomBytes(16).toString('hex')}`;
    return this.send({ app: 'resource', path, headers: { ...headers, ...authorization } });
  }

  private async send(request: OAuthRequest): Promise<Answer> {
    const { base_url, api_url } = this.run;
    const answer = await sendTo(request.app === 'token' ? base_url : api_url, request);
    const text = await answer.text();
    const body = (text === '' ? {} : JSON.parse(text)) as Answer['body'];
    for (const name of ['access_token', 'refresh_token', 'error_reference'])
      if (typeof body[name] === 'string') this.saw(body[name]);
    return { status: answer.status, body };
  }

  private saw(...values: string[]): void {
    for (const value of values) if (value !== '') this.seen.add(value);
  }
}
