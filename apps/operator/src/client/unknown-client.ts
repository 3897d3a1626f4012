import { InputError } from '../command-line/input.error.js';
import { invocation } from '../command-line/invocation.js';

/** The operator named a client that does not exist. */
export function unknownClient(clientId: string): InputError {
  // Quoted, so that control characters of a pasted identifier do not reach the terminal.
  return new InputError([
    `there is no client ${JSON.stringify(clientId.slice(0, 200))}: see ${invocation()} client list`,
  ]);
}
