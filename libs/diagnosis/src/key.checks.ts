import type { RecordedKey } from '#keys/token-key.store.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { isNeeded, type KeyProblem, keyReport } from '#keys/operations/key-report.js';
import {
  check,
  type DoctorChecks,
  type Finding,
  findingOf,
  noneChecked,
  type NotChecked,
} from './finding.js';

export const DOCTOR_KEY_CHECKS = {
  'key-unknown': check('error', 'every process can verify the keys that others sign with'),
  'keys-differ': check('warning', 'all processes have the same TOKEN_KEYS, and sign with the same key'),
  'key-missing': check('error', 'no process lacks a key that others have and live tokens need'),
  'key-removed-early': check('warning', 'no key is removed while live tokens need it, unless it leaked'),
  'key-old': check('warning', 'the key that signs is replaced once a year', 'ASVS 5.0 13.3.4'),
  'key-unneeded': check('info', 'keys that no live token needs are removed', 'ASVS 5.0 13.3.4'),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_KEY_CHECKS);

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
    if (signsIn.length > 0 && now.getTime() - record.firstSeenAt.getTime() > YEAR_MS)
      return finding(
        'key-old',
        subject,
        `it has been in use since ${record.firstSeenAt.toISOString().slice(0, 10)}`,
      );
    // A key that has not signed yet is the next signing key.
    if (
      signsIn.length === 0 &&
      verifiesIn.length > 0 &&
      record.neededUntil !== null &&
      !isNeeded(record, now)
    )
      return finding(
        'key-unneeded',
        subject,
        `no live token has needed it since ${record.neededUntil.toISOString().slice(0, 10)}`,
      );
    return [];
  });
  return [...disagreements, ...states];
}
