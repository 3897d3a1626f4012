import { randomBytes } from 'node:crypto';
import type { Response } from 'supertest';
import { csrfToken } from '../../src/session/csrf.guard.js';
import type { AuthorizeApp } from './authorize-app.js';

export interface Try {
  readonly username: string;
  readonly password?: string;
  /** Where a proxy says that it comes from; the app must trust loopback. */
  readonly from?: string;
  /** Value of the device cookie. */
  readonly device?: string | undefined;
}

/**
 * One try to log in by a browser that has nothing but what is given. What is answered 503 was no try, and is repeated: a
 * busy machine is late with one of many.
 */
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

/** So many tries one after the other; their statuses. */
export async function statusesOf(
  times: number,
  one: (index: number) => Promise<Response>,
): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < times; index += 1) statuses.push((await one(index)).status);
  return statuses;
}

/** The device cookie that an answer gives. */
export function deviceIn({ headers }: Response): string {
  const cookies = (headers['set-cookie'] ?? []) as unknown as string[];
  return (
    /^(?:__Host-|oauth_service_)device=([^;]*)/.exec(
      cookies.find((cookie) => cookie.includes('device=')) ?? '',
    )?.[1] ?? ''
  );
}

let lastAddress = 0;

/** An address that no other test tries from (RFC 5737 has too few: 198.18.0.0/15 is for measuring, RFC 2544). */
export function freshAddress(): string {
  lastAddress += 1;
  return `198.18.${lastAddress >> 8}.${lastAddress & 255}`;
}
