import { LastAdminError } from '../../operators/console-role.js';
import { refusal } from '#operations/administration.error.js';
import { shellWords } from '#operations/wording.js';

/**
 * @param wayBack command that restores the access
 * @throws AdministrationError of the kind `unconfirmed`
 */
export function unlessLastAdmin<T>(change: Promise<T>, wayBack: readonly string[]): Promise<T> {
  return change.catch((error: unknown) => {
    if (!(error instanceof LastAdminError)) throw error;
    throw refusal(
      'unconfirmed',
      'confirmLastAdmin',
      `this user is the last admin of the console, and only the command line could appoint another one. The way back is: operator ${shellWords(wayBack)}`,
    );
  });
}
