import type { Installation } from './installation.js';
import { type Outcome, retryUntilAvailable } from './retry.js';

export interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The application's server. Sends requests to the replicas of an app in turn. */
export class Application {
  private turn = 0;

  constructor(private readonly installation: Installation) {}

  redeem(code: string): Promise<Outcome> {
    return retryUntilAvailable(() =>
      this.post('token', { grant_type: 'authorization_code', code, ...this.installation.client }),
    );
  }

  refresh({ refresh_token }: TokenPair): Promise<Outcome> {
    return retryUntilAvailable(() =>
      this.post('token', { grant_type: 'refresh_token', refresh_token, ...this.installation.client }),
    );
  }

  revoke(token: string): Promise<Outcome> {
    return retryUntilAvailable(() => this.post('revoke', { token, ...this.installation.client }));
  }

  me({ access_token }: TokenPair): Promise<Outcome> {
    return retryUntilAvailable(() =>
      fetch(`${this.next(this.installation.resourceUrls)}/v2/me`, {
        headers: { Authorization: `Bearer ${access_token}` },
      }),
    );
  }

  private post(path: string, form: Record<string, string>): Promise<Response> {
    const body = new URLSearchParams(form);
    return fetch(`${this.next(this.installation.tokenUrls)}/api/auth/oauth/${path}`, {
      method: 'POST',
      body,
    });
  }

  private next(urls: readonly string[]): string {
    return urls[this.turn++ % urls.length] ?? '';
  }
}

export function pairOf({ status, text }: Outcome): TokenPair {
  if (status !== 200) throw new Error(`no pair: ${status} ${text}`);
  return JSON.parse(text) as TokenPair;
}
