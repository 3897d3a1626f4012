import { randomBytes } from 'node:crypto';
import { hashPassword } from '#database/user/password.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { CookieJar } from '#local/demo/cookie-jar.js';
import { findForm, type PageForm } from '#local/demo/page-form.js';
import type { Product } from './product.js';

const PASSWORD = randomBytes(12).toString('base64url');
let passwordHash: Promise<string> | undefined;

/** A user who has logged in, and the forms that lay open in the browser. */
export interface Person {
  /** The login form and the cookie it was given with; good for any number of logins. */
  readonly login: { readonly form: PageForm; readonly cookie: string; readonly body: string };
  /** The session's cookie, and the consent form. */
  readonly session: { readonly consent: PageForm; readonly cookie: string };
}

/** Where the client sends browsers. */
export function authorizationPath(clientId: string, prompt?: string): string {
  const query = new URLSearchParams({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 'bench' });
  if (prompt) query.set('prompt', prompt);
  return `/auth/oauth2/authorize?${query.toString()}`;
}

/** Registers a user and logs in as a browser does. */
export async function newPerson({ authUrl, fixture }: Product, clientId: string): Promise<Person> {
  passwordHash ??= hashPassword(PASSWORD);
  const username = `bench${randomBytes(6).toString('hex')}`;
  const email = `${username}@example.com`;
  await fixture.users.create({ email, username, name: 'Bench', passwordHash: await passwordHash });

  const jar = new CookieJar();
  const visit = async (url: URL, body?: string) => {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: {
        cookie: jar.header(url) ?? '',
        ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(body !== undefined && { method: 'POST', body }),
    });
    jar.store(url, answer.headers);
    return answer;
  };
  const start = new URL(authorizationPath(clientId, 'consent'), authUrl);
  const loginUrl = new URL((await visit(start)).headers.get('location') ?? '', start);
  const form = findForm(await (await visit(loginUrl)).text(), loginUrl, 'password');
  const before = jar.header(loginUrl) ?? '';
  const body = new URLSearchParams({ ...form.fields, username, password: PASSWORD }).toString();
  await visit(form.action, body);
  const consent = findForm(await (await visit(start)).text(), start, 'decision=allow');
  return {
    login: { form, cookie: before, body },
    session: { consent, cookie: jar.header(start) ?? '' },
  };
}
