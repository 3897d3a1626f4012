import { LastAdminError } from '../../operators/console-role.js';
import { refused } from '#operations/administration.error.js';
import { problem } from '#platform/validation/problem.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    confirmLastAdmin: { readonly wayBack: readonly string[] };
  }
}

/**
 * @param wayBack command that restores the access
 * @throws AdministrationError of the kind `unconfirmed`
 */
export function unlessLastAdmin<T>(change: Promise<T>, wayBack: readonly string[]): Promise<T> {
  return change.catch((error: unknown) => {
    if (!(error instanceof LastAdminError)) throw error;
    throw refused('unconfirmed', problem('confirmLastAdmin', [], { wayBack }));
  });
}
