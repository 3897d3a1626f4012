import type { RecordedKey } from '../token-key.store.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { isNeeded, type KeyProblem, type ReportedKey, rolesOf } from './key-report.js';

export interface ReportedIdTokenKey extends ReportedKey {
  readonly alg: string;
}

/** Includes keys that no process has although their ID tokens may be valid. Empty without OpenID Connect. */
export function idTokenKeyReport(
  statuses: readonly ServiceStatus[],
  records: readonly RecordedKey[],
  now: Date,
): ReportedIdTokenKey[] {
  const processes = statuses.filter((status) => status.id_token_keys !== undefined);
  const recorded = new Map(records.map((record) => [record.id, record]));
  const needed = records.filter((record) => isNeeded(record, now));
  const algs = new Map([
    ...processes.flatMap(({ id_token_keys: keys = [] }) => keys.map(({ id, alg }) => [id, alg] as const)),
    ...needed.map(({ id, ring }) => [id, ring] as const),
  ]);
  return [...algs]
    .map(([id, alg]): ReportedIdTokenKey => ({
      id,
      alg,
      ...rolesOf(id, processes, (process) => process.id_token_keys ?? []),
      record: recorded.get(id),
    }))
    .sort((a, b) => a.alg.localeCompare(b.alg) || b.signsIn.length - a.signsIn.length);
}

/** Does not compare the keys of authorize and token, which `doctor` compares. */
export function idTokenKeyProblems(keys: readonly ReportedIdTokenKey[], now: Date): KeyProblem[] {
  return keys
    .filter(
      ({ signsIn, verifiesIn, record }) =>
        signsIn.length + verifiesIn.length === 0 && record && isNeeded(record, now),
    )
    .map(({ id, record }) => ({
      id: 'key_removed_early',
      severity: 'warning',
      message: `key ${id} of ID tokens may be needed until ${record?.neededUntil?.toISOString()}, and no process has it: applications refuse ID tokens that it signed`,
      remedy: { id: 'key-removed-early.id_token' },
    }));
}
