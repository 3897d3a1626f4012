import { createHmac, timingSafeEqual } from 'node:crypto';

export interface LoginState {
  readonly id: string;
  /** Path on this site to return to, with its query. */
  readonly page: string;
  readonly startedAt: number;
  /** `login` authenticates the user again (OpenID Connect Core 3.1.2.1). */
  readonly prompt: 'login' | 'select_account' | null;
}

/** Returns the `state`: the login itself, authenticated with the cookie of the browser (login CSRF, RFC 6749 10.12). */
export function sealState(cookie: string, state: LoginState): string {
  const text = Buffer.from(JSON.stringify(state)).toString('base64url');
  return `${text}.${mac(cookie, 'state', text)}`;
}

/** @returns null if this browser did not begin the login */
export function openState(cookie: string, sealed: string): LoginState | null {
  const [text = '', tag = ''] = sealed.split('.', 2);
  const [sent, expected] = [Buffer.from(tag), Buffer.from(mac(cookie, 'state', text))];
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) return null;
  return JSON.parse(Buffer.from(text, 'base64url').toString()) as LoginState;
}

/** Accepts only a path on this site: `//` or a backslash would lead to another site. */
export function localPage(page: string | null): string {
  return page !== null && /^\/(?:[\x21-\x2e\x30-\x5b\x5d-\x7e][\x21-\x7e]*)?$/.test(page) ? page : '/';
}

/** Returns the `nonce` or the PKCE verifier of a login, which only its browser can compute. */
export function derived(cookie: string, purpose: 'nonce' | 'verifier', { id }: LoginState): string {
  return mac(cookie, purpose, id);
}

function mac(cookie: string, purpose: string, text: string): string {
  return createHmac('sha256', cookie).update(`login ${purpose}:${text}`).digest('base64url');
}
