import { processName, quoted } from '#operations/wording.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import {
  check,
  type DoctorChecks,
  type Finding,
  findingOf,
  noneChecked,
  type NotChecked,
} from './finding.js';

export const DOCTOR_LOGOUT_CHECKS = {
  'logout-queue-unreadable': check(
    'error',
    'token apps read the queue of log-outs',
    'Back-Channel Logout 1.0 2.5',
  ),
  'logout-queue-differs': check('warning', 'the queue of log-outs has the settings of this version'),
  'logout-queue-full': check('warning', 'the queue of log-outs has room'),
  'logout-queue-late': check(
    'warning',
    'applications confirm log-outs within minutes',
    'Back-Channel Logout 1.0 2.8',
  ),
  'logout-events-lost': check('warning', 'no process has lost the end of a session'),
  'logout-events-waiting': check('warning', 'ends of sessions reach the queue without delay'),
  'logout-tokens-failed': check(
    'warning',
    'applications accept their logout tokens',
    'Back-Channel Logout 1.0 2.8',
  ),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_LOGOUT_CHECKS);

export interface ClientLogouts {
  readonly clientId: string;
  readonly name: string;
  readonly refused: number;
  readonly dropped: number;
  /** Latest failure of any outcome. */
  readonly last: { readonly time: string; readonly failure: string };
}

const LATE_MS = 5 * 60_000;
const FULL = 0.9;
/** Number of waiting session ends above which a process is reported. A burst may wait for a second. */
const WAITING_LIMIT = 1_000;
const MEGABYTE = 1024 * 1024;

/** @param clients clients with failures in the last day @param now in milliseconds since the epoch */
export function examineLogouts(
  statuses: readonly ServiceStatus[],
  clients: readonly ClientLogouts[],
  now: number,
): (Finding | NotChecked)[] {
  const known = statuses.filter(hasLogouts);
  if (known.length === 0)
    return noneChecked(DOCTOR_LOGOUT_CHECKS, 'no process reports log-outs: OpenID Connect is off');
  return [...queueOf(known, clients, now), ...known.flatMap(buffer), ...clients.flatMap(failed)];
}

/** Returns false without OpenID Connect. */
export const hasLogouts = ({ logouts, logout_queue: queue }: ServiceStatus): boolean =>
  logouts !== undefined || queue !== undefined;

/** Uses the first report, because all processes report the same queue. */
function queueOf(
  statuses: readonly ServiceStatus[],
  clients: readonly ClientLogouts[],
  now: number,
): (Finding | NotChecked)[] {
  const queues = statuses.flatMap((status) =>
    status.logout_queue ? [{ process: processName(status), queue: status.logout_queue }] : [],
  );
  const unreadable = queues.flatMap(({ process, queue }): Finding[] =>
    'problem' in queue
      ? finding(
          'logout-queue-unreadable',
          process,
          `it cannot read OAUTH_LOGOUT (${queue.problem}): it sends no logout tokens`,
        )
      : [],
  );
  const [queue] = queues.flatMap((status) => ('problem' in status.queue ? [] : [status.queue]));
  if (!queue) {
    const reason = 'no token app reports the queue';
    const others = ['logout-queue-differs', 'logout-queue-full', 'logout-queue-late'];
    return [...unreadable, ...others.map((id) => ({ check: id, reason }))];
  }
  const findings = [...unreadable];
  const add = (id: 'logout-queue-differs' | 'logout-queue-full' | 'logout-queue-late', problem: string) =>
    findings.push(...finding(id, 'OAUTH_LOGOUT', problem));
  if (queue.differing.length > 0)
    add('logout-queue-differs', `its ${queue.differing.join(', ')} are not as the token app sets them`);
  if (queue.bytes > FULL * queue.max_bytes)
    add(
      'logout-queue-full',
      `${Math.round(queue.bytes / MEGABYTE)} of ${Math.round(queue.max_bytes / MEGABYTE)} MiB are in use: NATS deletes the oldest log-outs, and applications do not learn of them`,
    );
  if (queue.oldest !== null && now - Date.parse(queue.oldest) > LATE_MS)
    add(
      'logout-queue-late',
      `${queue.messages} log-outs wait, the oldest since ${queue.oldest}; ${unanswered(clients)}`,
    );
  return findings;
}

const unanswered = (clients: readonly ClientLogouts[]): string =>
  clients.length === 0
    ? 'no application has refused one'
    : `not accepted by ${clients.map(({ clientId }) => clientId).join(', ')}`;

function buffer(status: ServiceStatus): Finding[] {
  const { waiting = 0, dropped = 0 } = status.logouts ?? {};
  const subject = processName(status);
  const findings: Finding[] = [];
  const add = (id: 'logout-events-lost' | 'logout-events-waiting', problem: string) =>
    findings.push(...finding(id, subject, problem));
  if (dropped > 0)
    add(
      'logout-events-lost',
      `it lost ${dropped} ends of sessions since ${status.started_at}: applications did not learn of them`,
    );
  if (waiting > WAITING_LIMIT) add('logout-events-waiting', `${waiting} ends of sessions wait for NATS`);
  return findings;
}

function failed({ clientId, name, refused, dropped, last }: ClientLogouts): Finding[] {
  if (refused + dropped === 0) return [];
  return finding(
    'logout-tokens-failed',
    `${clientId} ${quoted(name)}`,
    `in the last day it refused ${refused} logout tokens, and ${dropped} were dropped after an hour; the last failure at ${last.time}: ${last.failure}`,
    { clientId },
  );
}
