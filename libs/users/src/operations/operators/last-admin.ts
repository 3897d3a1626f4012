import { LastAdminError } from '../../operators/console-role.js';
import { refused } from '#operations/administration.error.js';
import { problem } from '#platform/validation/problem.js';

/** Change that would end the access of the last admin. */
export interface RefusedEnd {
  readonly change: 'role' | 'disable' | 'delete';
  readonly login: string;
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    confirmLastAdmin: RefusedEnd;
  }
}

/** @throws AdministrationError of the kind `unconfirmed` */
export function unlessLastAdmin<T>(change: Promise<T>, end: RefusedEnd): Promise<T> {
  return change.catch((error: unknown) => {
    if (!(error instanceof LastAdminError)) throw error;
    throw refused('unconfirmed', problem('confirmLastAdmin', [], end));
  });
}
