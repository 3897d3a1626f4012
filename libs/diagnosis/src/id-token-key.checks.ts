import type { ServiceStatus } from '#platform/status/status-report.js';
import { processNames } from '#operations/wording.js';
import { check, type DoctorChecks, type Finding, findingOf, type NotChecked } from './finding.js';

export const DOCTOR_ID_TOKEN_KEY_CHECKS = {
  'id-token-keys-differ': check(
    'error',
    'authorize and token have the same keys of ID tokens (ID_TOKEN_KEYS)',
    'OpenID Connect Core 10.1.1',
  ),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_ID_TOKEN_KEY_CHECKS);

/** Ignores the order of keys, which differs between processes while a new key begins to sign. */
export function examineIdTokenKeys(statuses: readonly ServiceStatus[]): (Finding | NotChecked)[] {
  const processes = statuses.filter((status) => status.id_token_keys !== undefined);
  const ids = [...new Set(processes.flatMap((status) => keyIds(status)))];
  return ids.flatMap((id): Finding[] => {
    const missing = processes.filter((status) => !keyIds(status).includes(id));
    if (missing.length === 0) return [];
    const having = processes.filter((status) => keyIds(status).includes(id));
    const inToken = having.some(({ service }) => service === 'token');
    const effect = inToken
      ? 'applications may reject ID tokens, and id_token_hint is refused'
      : 'no token app signs with it or publishes it';
    return finding(
      'id-token-keys-differ',
      `ID token key ${id}`,
      `${processNames(having)} has it, ${processNames(missing)} does not: ${effect}`,
    );
  });
}

export function signingAlgorithms(statuses: readonly ServiceStatus[]): readonly string[] | null {
  const [first, ...others] = statuses
    .filter(({ service }) => service === 'token')
    .flatMap(({ id_token_keys: keys }) =>
      keys ? [keys.filter(({ role }) => role === 'signing').map(({ alg }) => alg)] : [],
    );
  return first?.filter((alg) => others.every((algorithms) => algorithms.includes(alg))) ?? null;
}

const keyIds = ({ id_token_keys: keys = [] }: ServiceStatus): string[] => keys.map(({ id }) => id);
