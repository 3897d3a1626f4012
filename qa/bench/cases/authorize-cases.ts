import type autocannon from 'autocannon';
import type { Case } from '../load.js';
import { authorizationPath, type Person } from '../person.js';
import type { Product } from '../product.js';

type Name = 'start' | 'loginPage' | 'login' | 'consent' | 'allow' | 'remembered' | 'apps';

/** Number of grants per user and client in 24 hours after which the consent page is shown again. */
const REMEMBERED_A_DAY = 100;

/** Sends successive requests for different users, because no real user has thousands of grants. */
export function authorizeCases(
  { authUrl: url }: Product,
  clientId: string,
  people: readonly Person[],
): Record<Name, Case> {
  const path = ({ pathname, search }: URL) => `${pathname}${search}`;
  const inTurn = (request: (person: Person) => autocannon.Request) => {
    let turn = 0;
    return () => {
      const person = people[turn++ % people.length];
      return person ? request(person) : {};
    };
  };
  const form = (action: URL, cookie: string, body: string): autocannon.Request => ({
    method: 'POST',
    path: path(action),
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });
  const get = (target: string, headers = {}): autocannon.Request => ({
    method: 'GET',
    path: target,
    headers,
  });
  return {
    start: {
      name: 'authorize, without a session',
      url,
      status: 303,
      next: () => get(authorizationPath(clientId)),
    },
    loginPage: {
      name: 'login page',
      url,
      status: 200,
      next: inTurn(({ login }) => get(path(login.form.action), { cookie: login.cookie })),
    },
    login: {
      name: 'login',
      url,
      status: 200,
      next: inTurn(({ login }) => form(login.form.action, login.cookie, login.body)),
    },
    consent: {
      name: 'consent page',
      url,
      status: 200,
      next: inTurn(({ session }) => get(authorizationPath(clientId, 'consent'), { cookie: session.cookie })),
    },
    allow: {
      name: '_Allow_',
      url,
      status: 200,
      most: () => 15 * people.length,
      next: inTurn(({ session: { consent, cookie } }) =>
        form(
          consent.action,
          cookie,
          new URLSearchParams({ ...consent.fields, decision: 'allow' }).toString(),
        ),
      ),
    },
    remembered: {
      name: 'authorize, allowed before',
      url,
      status: 303,
      most: () => (REMEMBERED_A_DAY - 30) * people.length,
      next: inTurn(({ session }) => get(authorizationPath(clientId), { cookie: session.cookie })),
    },
    apps: {
      name: '`/auth/apps`',
      url,
      status: 200,
      next: inTurn(({ session }) => get('/auth/apps', { cookie: session.cookie })),
    },
  };
}
