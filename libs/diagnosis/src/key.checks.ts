import type { RecordedKey } from '#keys/token-key.store.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { processNames } from '#operations/wording.js';
import { isNeeded, type KeyProblem, keyReport } from '#keys/operations/key-report.js';
import { declareChecks, type Finding, findingOf, noneChecked, type NotChecked } from './finding.js';

export const DOCTOR_KEY_CHECKS = declareChecks({
  'key-unknown': 'error: every process can verify the keys that others sign with',
  'keys-differ': 'warning: all processes have the same TOKEN_KEYS, and sign with the same key',
  'key-missing': 'error: no process lacks a key that others have and live tokens need',
  'key-removed-early': 'warning: no key is removed while live tokens need it, unless it leaked',
  'key-old': 'warning: the key that signs is replaced once a year [ASVS 5.0 13.3.4]',
  'key-unneeded': 'info: keys that no live token needs are removed [ASVS 5.0 13.3.4]',
});

export const DOCTOR_ID_TOKEN_KEY_CHECKS = declareChecks({
  'id-token-keys-differ':
    'error: authorize and token have the same keys of ID tokens (ID_TOKEN_KEYS) [OpenID Connect Core 10.1.1]',
});

const finding = findingOf({ ...DOCTOR_KEY_CHECKS, ...DOCTOR_ID_TOKEN_KEY_CHECKS });

type KeyCheck = keyof typeof DOCTOR_KEY_CHECKS;

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/** @returns null for an app that does not answer, because `process-missing` reports the app */
function checkOf({ id, severity }: KeyProblem): KeyCheck | null {
  switch (id) {
    case 'signing_key_unknown':
      return 'key-unknown';
    case 'key_removed_early':
      return severity === 'error' ? 'key-missing' : 'key-removed-early';
    case 'no_process':
      return null;
    default:
      return 'keys-differ';
  }
}

export function examineKeys(
  statuses: readonly ServiceStatus[],
  records: readonly RecordedKey[],
  now: Date,
): (Finding | NotChecked)[] {
  const { processes, keys, problems } = keyReport(statuses, records, now);
  if (processes.length === 0) return noneChecked(DOCTOR_KEY_CHECKS, 'no process reports its keys');
  const disagreements = problems.flatMap((problem): Finding[] => {
    const id = checkOf(problem);
    if (id === null) return [];
    return [{ check: id, subject: 'TOKEN_KEYS', problem: problem.message, remedy: problem.remedy }];
  });
  const states = keys.flatMap(({ id, signsIn, verifiesIn, record }): Finding[] => {
    if (!record) return [];
    const subject = `key ${id}`;
    const { firstSeenAt, neededUntil } = record;
    if (signsIn.length > 0)
      return now.getTime() - firstSeenAt.getTime() > YEAR_MS
        ? finding('key-old', subject, `it has been in use since ${dayOf(firstSeenAt)}`)
        : [];
    // A key that has not signed yet is the next signing key.
    if (verifiesIn.length === 0 || neededUntil === null || isNeeded(record, now)) return [];
    return finding('key-unneeded', subject, `no live token has needed it since ${dayOf(neededUntil)}`);
  });
  return [...disagreements, ...states];
}

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

const dayOf = (time: Date): string => time.toISOString().slice(0, 10);
