import type {
  ClientSecretRecord,
  SecretOutcome,
  SecretRefusal,
} from '#database/client/client-secret.store.js';
import { InputError } from '../command-line/input.error.js';
import { invocation } from '../command-line/invocation.js';
import { quoted } from '../client/registration-rules.js';
import { unknownClient } from '../client/unknown-client.js';
import { sayWhenUsed } from './describe-secret.js';

/**
 * The live secrets after a command.
 *
 * @throws InputError that says why nothing was done, and what to do
 */
export function doneOrRefused(
  result: SecretOutcome,
  clientId: string,
  secretId = '',
): readonly ClientSecretRecord[] {
  if (result.outcome === 'done') return result.live;
  if (result.outcome === 'unknown_client') throw unknownClient(clientId);
  throw new InputError(reasons(result, clientId, secretId));
}

function reasons(
  refusal: Exclude<SecretRefusal, { outcome: 'unknown_client' }>,
  clientId: string,
  secretId: string,
): string[] {
  switch (refusal.outcome) {
    case 'public_client':
      return [`${clientId} is a public client: it has no secret, it proves itself by PKCE`];
    case 'two_live':
      return [
        'two secrets are live, and no third is made: revoke the one that is out of use',
        ...refusal.live.map(
          (secret) =>
            `${invocation()} client secret revoke ${clientId} ${secret.id}  # ${sayWhenUsed(secret)}`,
        ),
      ];
    case 'unknown_secret':
      return [
        `no live secret of the client is ${quoted(secretId)}: see ${invocation()} client secret list ${clientId}`,
      ];
    default:
      return [
        'it is the last live secret: the application could not authenticate any more; make another one first ' +
          `(${invocation()} client secret rotate ${clientId}), or give --force`,
      ];
  }
}
