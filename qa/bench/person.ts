import { randomBytes } from 'node:crypto';
import { hashPassword } from '#users/password.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { findForm, type PageForm } from '#local/demo/html-form.js';
import { Browser } from '#test/support/browser.js';
import type { Product } from './product.js';

const PASSWORD = randomBytes(12).toString('base64url');
let passwordHash: Promise<string> | undefined;

export interface Person {
  /** Can be submitted any number of times. */
  readonly login: { readonly form: PageForm; readonly cookie: string; readonly body: string };
  readonly session: { readonly consent: PageForm; readonly cookie: string };
}

export function authorizationPath(clientId: string, prompt?: string): string {
  const query = new URLSearchParams({ client_id: clientId, redirect_uri: REDIRECT_URI, state: 'bench' });
  if (prompt) query.set('prompt', prompt);
  return `/auth/oauth2/authorize?${query.toString()}`;
}

export async function newPerson({ authUrl, fixture }: Product, clientId: string): Promise<Person> {
  passwordHash ??= hashPassword(PASSWORD);
  const username = `bench${randomBytes(6).toString('hex')}`;
  const email = `${username}@example.com`;
  await fixture.users.create({ email, username, name: 'Bench', passwordHash: await passwordHash });

  const browser = new Browser(authUrl);
  const start = new URL(authorizationPath(clientId, 'consent'), authUrl);
  const loginUrl = new URL((await browser.get(start)).headers['location'] ?? '', start);
  const form = findForm((await browser.get(loginUrl)).text, loginUrl, 'password');
  const before = browser.cookies.header() ?? '';
  const fields = { ...form.fields, username, password: PASSWORD };
  await browser.post(form.action, fields);
  const consent = findForm((await browser.get(start)).text, start, 'decision=allow');
  return {
    login: { form, cookie: before, body: new URLSearchParams(fields).toString() },
    session: { consent, cookie: browser.cookies.header() ?? '' },
  };
}
