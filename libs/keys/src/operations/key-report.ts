import type { RecordedKey } from '../token-key.store.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { processNames } from '#operations/wording.js';
import type { Remedy } from '#error-guide/doctor/remedies.js';

type RingProcess = ServiceStatus & Required<Pick<ServiceStatus, 'keys'>>;

const RING_APPS = ['authorize', 'token'];

/** Processes, grouped by the role that a key has in each process. */
interface KeyRoles {
  readonly signsIn: readonly ServiceStatus[];
  readonly verifiesIn: readonly ServiceStatus[];
  readonly missingIn: readonly ServiceStatus[];
}

export interface ReportedKey extends KeyRoles {
  readonly id: string;
  /** Undefined if no process has recorded the key in PostgreSQL yet. */
  readonly record: RecordedKey | undefined;
}

export interface KeyProblem {
  readonly id:
    | 'no_process'
    | 'signing_key_unknown'
    | 'signing_keys_differ'
    | 'verifying_keys_differ'
    | 'key_removed_early';
  /**
   * `error`: valid tokens are rejected, or no process of an app responds. `warning`: valid tokens may be rejected, or a
   * rollout is incomplete.
   */
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly remedy: Remedy;
}

export interface KeyReport {
  readonly processes: readonly RingProcess[];
  /** Signing keys first, then verifying keys, then keys that no process has. */
  readonly keys: readonly ReportedKey[];
  readonly problems: readonly KeyProblem[];
}

export function keyReport(
  statuses: readonly ServiceStatus[],
  records: readonly RecordedKey[],
  now: Date,
): KeyReport {
  const processes = statuses.filter((status): status is RingProcess => status.keys !== undefined);
  const recorded = new Map(records.map((record) => [record.id, record]));
  const needed = records.filter((record) => isNeeded(record, now)).map(({ id }) => id);
  const configured = processes.flatMap(({ keys }) => keys.map(({ id }) => id));
  const keys = [...new Set([...configured, ...needed])]
    .map((id): ReportedKey => ({
      id,
      ...rolesOf(id, processes, (process) => process.keys),
      record: recorded.get(id),
    }))
    .sort((a, b) => rank(a) - rank(b) || a.id.localeCompare(b.id));
  return { processes, keys, problems: problemsOf(processes, keys, now) };
}

export function rolesOf<Process extends ServiceStatus>(
  id: string,
  processes: readonly Process[],
  keysOf: (process: Process) => readonly { readonly id: string; readonly role: string }[],
): KeyRoles {
  const having = (role: string | undefined) =>
    processes.filter((process) => keysOf(process).find((key) => key.id === id)?.role === role);
  return { signsIn: having('signing'), verifiesIn: having('verifying'), missingIn: having(undefined) };
}

export function isNeeded({ neededUntil }: RecordedKey, now: Date): boolean {
  return neededUntil !== null && neededUntil > now;
}

const rank = ({ signsIn, verifiesIn }: ReportedKey): number =>
  signsIn.length > 0 ? 0 : verifiesIn.length > 0 ? 1 : 2;

/** Returns the apps that have a ring, and of which no process answers. */
export const silentApps = (processes: readonly ServiceStatus[]): string[] =>
  RING_APPS.filter((app) => !processes.some(({ service }) => service === app));

function problemsOf(
  processes: readonly RingProcess[],
  keys: readonly ReportedKey[],
  now: Date,
): KeyProblem[] {
  const signing = keys.filter(({ signsIn }) => signsIn.length > 0);
  return [
    ...silentApps(processes).map((app): KeyProblem => ({
      id: 'no_process',
      severity: 'error',
      message: `no process of ${app} answers: its keys are unknown`,
      remedy: { id: 'keys-silent', values: { app } },
    })),
    ...(signing.length > 1
      ? [
          {
            id: 'signing_keys_differ',
            severity: 'warning',
            message: `processes sign with different keys: ${signing.map(({ id, signsIn }) => `${id} in ${processNames(signsIn)}`).join('; ')}`,
            remedy: { id: 'keys-differ.signing' },
          } as const,
        ]
      : []),
    ...keys.flatMap((key) => problemOf(key, processes.length, now)),
  ];
}

function problemOf(key: ReportedKey, processes: number, now: Date): KeyProblem[] {
  const { id, signsIn, missingIn, record } = key;
  if (missingIn.length === 0) return [];
  const missing = processNames(missingIn);
  if (signsIn.length > 0)
    return [
      {
        id: 'signing_key_unknown',
        severity: 'error',
        message: `key ${id} signs in ${processNames(signsIn)}, and ${missing} does not know it: tokens are refused there`,
        remedy: { id: 'key-unknown' },
      },
    ];
  if (record && isNeeded(record, now))
    return [
      {
        id: 'key_removed_early',
        severity: missingIn.length === processes ? 'warning' : 'error',
        message: `key ${id} may be needed until ${record.neededUntil?.toISOString()}, and ${missing} does not have it: tokens that it signed are refused`,
        remedy: { id: 'key-removed-early' },
      },
    ];
  return [
    {
      id: 'verifying_keys_differ',
      severity: 'warning',
      message: `key ${id} is unknown to ${missing}`,
      remedy: { id: 'keys-differ' },
    },
  ];
}
