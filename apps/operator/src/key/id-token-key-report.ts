import type { ServiceStatus } from '#platform/status/status-report.js';

/** Use of a key of ID tokens (ID_TOKEN_KEYS) in the running processes. */
export interface ReportedIdTokenKey {
  readonly id: string;
  readonly alg: string;
  readonly signsIn: readonly ServiceStatus[];
  readonly verifiesIn: readonly ServiceStatus[];
  readonly missingIn: readonly ServiceStatus[];
}

/** Reports the keys of each algorithm together, signing keys first. Empty without OpenID Connect. */
export function idTokenKeyReport(statuses: readonly ServiceStatus[]): ReportedIdTokenKey[] {
  const processes = statuses.filter((status) => status.id_token_keys !== undefined);
  const algs = new Map(
    processes.flatMap(({ id_token_keys: keys = [] }) => keys.map(({ id, alg }) => [id, alg] as const)),
  );
  return [...algs]
    .map(([id, alg]): ReportedIdTokenKey => {
      const having = (role: string | undefined) =>
        processes.filter((status) => status.id_token_keys?.find((key) => key.id === id)?.role === role);
      return {
        id,
        alg,
        signsIn: having('signing'),
        verifiesIn: having('verifying'),
        missingIn: having(undefined),
      };
    })
    .sort((one, other) => one.alg.localeCompare(other.alg) || other.signsIn.length - one.signsIn.length);
}
