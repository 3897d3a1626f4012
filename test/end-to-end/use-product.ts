import { randomBytes } from 'node:crypto';
import type { RunFile } from '#local/demo/run-file.js';
import { allow } from './allow.js';

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An application and its user: valid requests and some that are refused. */
export class ProductUser {
  /** Every secret or personal value in requests and answers. */
  readonly seen = new Set<string>();

  constructor(private readonly run: RunFile) {
    const { client, user } = run;
    this.saw(client.client_id, client.client_secret, client.redirect_uri, user.email, user.password);
  }

  async code(): Promise<string> {
    const { auth_url, client } = this.run;
    const url = new URL(`${auth_url}/auth/oauth2/authorize`);
    const state = randomBytes(12).toString('base64url');
    url.search = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: client.redirect_uri,
      response_type: 'code',
      scope: 'profile:read',
      state,
    }).toString();
    const callback = await allow(this.run, url);
    const code = callback.searchParams.get('code') ?? '';
    this.saw(state, code);
    return code;
  }

  redeem(code: string): Promise<Answer> {
    const { redirect_uri } = this.run.client;
    return this.post('token', { grant_type: 'authorization_code', code, redirect_uri });
  }

  refresh(refreshToken: unknown): Promise<Answer> {
    return this.post('token', { grant_type: 'refresh_token', refresh_token: String(refreshToken) });
  }

  revoke(token: unknown): Promise<Answer> {
    return this.post('revoke', { token: String(token) });
  }

  async me(token: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const authorization = typeof token === 'string' ? { Authorization: `Bearer ${token}` } : {};
    // A query that must not appear in a trace or log.
    const url = `${this.run.api_url}/v2/me?code=${randomBytes(16).toString('hex')}`;
    const answer = await fetch(url, { headers: { ...headers, ...authorization } });
    return { status: answer.status, body: (await answer.json()) as Answer['body'] };
  }

  private async post(path: string, parameters: Record<string, string>): Promise<Answer> {
    const { client_id, client_secret } = this.run.client;
    const answer = await fetch(`${this.run.base_url}/api/auth/oauth/${path}`, {
      method: 'POST',
      body: new URLSearchParams({ ...parameters, client_id, client_secret }),
    });
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
