import { randomBytes } from 'node:crypto';
import type { Response } from 'supertest';
import { csrfToken } from '#ui/browser-cookie.js';
import type { AuthorizeApp } from './start-authorize-app.js';

export interface Try {
  readonly username: string;
  readonly password?: string;
  /** Address in X-Forwarded-For; the app must trust loopback proxies. */
  readonly from?: string;
  readonly device?: string | undefined;
}

/** Submits the login form. Retries after a 503, which is not counted and can occur on a busy machine. */
export async function tryLogin(
  app: AuthorizeApp,
  { username, password = 'a guess', from, device }: Try,
): Promise<Response> {
  const browser = app.browser();
  const cookie = randomBytes(32).toString('base64url');
  browser.cookies.set('oauth_service_session', cookie);
  if (device !== undefined) browser.cookies.set('oauth_service_device', device);
  const fields = { csrf_token: csrfToken(cookie, 'login'), username, password };
  const headers: Record<string, string> = from === undefined ? {} : { 'X-Forwarded-For': from };
  for (let tries = 1; ; tries += 1) {
    const answer = await browser.post('/auth/login', fields, headers);
    if (answer.status !== 503 || tries === 10) return answer;
  }
}

export async function statusesOf(
  times: number,
  guess: (index: number) => Promise<Response>,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < times; index += 1) statuses.push((await guess(index)).status);
  return statuses;
}

export function deviceIn({ headers }: Response): string {
  const cookies = (headers['set-cookie'] ?? []) as unknown as string[];
  return (
    /^(?:__Host-|oauth_service_)device=([^;]*)/.exec(
      cookies.find((cookie) => cookie.includes('device=')) ?? '',
    )?.[1] ?? ''
  );
}

let lastAddress = 0;

/** Returns an unused address in 198.18.0.0/15 (RFC 2544), because the ranges of RFC 5737 are too small. */
export function freshAddress(): string {
  lastAddress += 1;
  return `198.18.${lastAddress >> 8}.${lastAddress & 255}`;
}
