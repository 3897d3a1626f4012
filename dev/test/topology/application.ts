import type { Installation } from './installation.js';
import { type Outcome, patiently } from './patiently.js';

export interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The application's server: asks one copy of an app after the other. */
export class Application {
  private turn = 0;

  constructor(private readonly at: Installation) {}

  redeem(code: string): Promise<Outcome> {
    return patiently(() => this.post('token', { grant_type: 'authorization_code', code, ...this.at.client }));
  }

  refresh({ refresh_token }: Pair): Promise<Outcome> {
    return patiently(() =>
      this.post('token', { grant_type: 'refresh_token', refresh_token, ...this.at.client }),
    );
  }

  revoke(token: string): Promise<Outcome> {
    return patiently(() => this.post('revoke', { token, ...this.at.client }));
  }

  me({ access_token }: Pair): Promise<Outcome> {
    return patiently(() =>
      fetch(`${this.next(this.at.resourceUrls)}/v2/me`, {
        headers: { Authorization: `Bearer ${access_token}` },
      }),
    );
  }

  private post(path: string, form: Record<string, string>): Promise<Response> {
    const body = new URLSearchParams(form);
    return fetch(`${this.next(this.at.tokenUrls)}/api/auth/oauth/${path}`, { method: 'POST', body });
  }

  private next(urls: readonly string[]): string {
    return urls[this.turn++ % urls.length] ?? '';
  }
}

export function pairOf({ status, text }: Outcome): Pair {
  if (status !== 200) throw new Error(`no pair: ${status} ${text}`);
  return JSON.parse(text) as Pair;
}
