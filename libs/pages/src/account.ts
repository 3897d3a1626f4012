import type { FastifyRequest } from 'fastify';
import type { Form } from './form.js';

/** A logged-in user. */
export interface Account {
  readonly name: string;
  /** Value of the `BrowserCookie`. */
  readonly browser: string;
  /** Key of the CSRF tokens for this user in this browser. Another login of the user does not change it. */
  readonly formKey: string;
  /** Key of the form ids in this browser, also for other users (`BrowserCookie.formIdKey`). */
  readonly formIdKey: string;
}

export type PageRequest = FastifyRequest & {
  account?: Account;
  keptForm?: Form | null;
};
