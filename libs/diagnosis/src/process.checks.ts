import type { RightsDifference, ServiceStatus } from '#platform/status/status-report.js';
import { processName } from '#operations/wording.js';
import { declareChecks, type Finding, findingOf, Findings, noneChecked, type NotChecked } from './finding.js';

export const DOCTOR_PROCESS_CHECKS = declareChecks({
  'process-missing': 'error: authorize, token and resource run, and answer over NATS',
  'process-not-ready': 'error: every process is ready for requests',
  'process-single': 'info: each app runs at least twice',
  'versions-differ': 'warning: all processes and this command line have the same version',
  'settings-differ':
    'error: all processes and this command line have the same settings and the same SCOPES_FILE [RFC 8414 3.3; RFC 9700 4.4.2]',
  'not-production': 'warning: NODE_ENV is production [ASVS 5.0 13.4.2]',
  'clock-wrong': 'error: clocks differ by less than CLOCK_SKEW [RFC 9449 11.1; ASVS 5.0 16.2.2]',
  'clock-drifts': 'warning: clocks differ by less than a second [ASVS 5.0 16.2.2]',
  'access-token-long': 'warning: access tokens live for an hour at most [RFC 6750 5.3]',
  'code-long': 'info: codes live for a minute at most [RFC 6749 4.1.2; ASVS 5.0 10.4.3]',
  'retry-window-long':
    'warning: a rotated refresh token can be repeated for a minute at most [RFC 9700 4.14.2; ASVS 5.0 10.4.5]',
});

export const DOCTOR_AUDIT_CHECKS = declareChecks({
  'audit-dropped': 'warning: no process has lost audit events [ASVS 5.0 16.3.3]',
  'audit-waiting': 'warning: events reach the audit trail without delay [ASVS 5.0 16.3.3]',
});

export const DOCTOR_RIGHTS_CHECKS = declareChecks({
  'rights-missing': 'error: each process has the rights in PostgreSQL and Redis that it needs',
  'rights-excessive':
    'warning: each process has only the rights in PostgreSQL and Redis that it needs, so that its stolen credential harms only this process [ASVS 5.0 13.2.2]',
});

const finding = findingOf(DOCTOR_PROCESS_CHECKS);

/** Milliseconds since the epoch. The clock was read between `askedAt` and `answeredAt`, by this machine's clock. */
export interface ClockReading {
  readonly place: string;
  readonly time: number;
  readonly askedAt: number;
  readonly answeredAt: number;
}

export type OwnSettings = Readonly<Record<string, string>>;

const UNBUILT = 'unbuilt';
const SERVICES = ['authorize', 'token', 'resource'];
const SECOND_MS = 1_000;
const HOUR_S = 3_600;
const MINUTE_S = 60;
/** Longer than any start: PostgreSQL may be unreachable for 60 s. */
const START_S = 120;

export function examineProcesses(
  statuses: readonly ServiceStatus[],
  own: { readonly version: string | undefined; readonly settings: OwnSettings },
): (Finding | NotChecked)[] {
  return [
    ...presence(statuses),
    ...readiness(statuses),
    ...versions(statuses, own.version),
    ...settings(statuses, own.settings),
    ...production(statuses),
    ...lifetimes(statuses),
  ];
}

function presence(statuses: readonly ServiceStatus[]): Finding[] {
  return SERVICES.flatMap((service): Finding[] => {
    const running = statuses.filter((status) => status.service === service).length;
    if (running === 0) return finding('process-missing', service, 'no process answers', { service });
    if (running > 1) return [];
    return finding('process-single', service, 'only one process answers: restarting it is an outage');
  });
}

function readiness(statuses: readonly ServiceStatus[]): Finding[] {
  return statuses.flatMap((status): Finding[] => {
    const { start, ...missing } = status.missing ?? {};
    const reasons = Object.entries(missing).map(([dependency, reason]) => `${dependency} (${reason})`);
    const ageS = (Date.parse(status.time) - Date.parse(status.started_at)) / SECOND_MS;
    if (start !== undefined && ageS > START_S) reasons.push(start);
    if (reasons.length === 0) return [];
    return finding(
      'process-not-ready',
      processName(status),
      `it gets no requests: /readyz misses ${reasons.join(', ')}; it runs since ${status.started_at}`,
    );
  });
}

function versions(statuses: readonly ServiceStatus[], own: string | undefined): Finding[] {
  const ours = own === undefined ? [] : [['this command line', own] as const];
  // A process that runs from source has no version.
  const built = statuses.filter(({ version }) => version !== UNBUILT);
  const groups = byValue([...built.map((status) => [processName(status), status.version] as const), ...ours]);
  if (groups.size < 2) return [];
  return finding('versions-differ', 'versions', listed(groups));
}

function settings(statuses: readonly ServiceStatus[], own: OwnSettings): Finding[] {
  const sources = [
    ...statuses.map((status) => [processName(status), status.settings ?? {}] as const),
    ['this command line', own] as const,
  ];
  const variables = [...new Set(sources.flatMap(([, values]) => Object.keys(values)))].filter(
    (name) => name !== 'NODE_ENV',
  );
  return variables.sort().flatMap((variable): Finding[] => {
    const known = sources.flatMap(([name, values]) =>
      Object.hasOwn(values, variable) ? [[name, String(values[variable])] as const] : [],
    );
    const groups = byValue(known);
    if (groups.size < 2) return [];
    return finding('settings-differ', variable, listed(groups));
  });
}

function production(statuses: readonly ServiceStatus[]): Finding[] {
  const isPublic = (status: ServiceStatus) =>
    ['AUTH_URL', 'BASE_URL', 'API_URL'].some((name) =>
      String(status.settings?.[name] ?? '').startsWith('https:'),
    );
  return statuses
    .filter((status) => isPublic(status) && status.settings?.['NODE_ENV'] !== 'production')
    .flatMap((status) =>
      finding(
        'not-production',
        processName(status),
        `NODE_ENV is ${String(status.settings?.['NODE_ENV'] ?? 'unknown')}: http addresses are allowed`,
      ),
    );
}

function lifetimes(statuses: readonly ServiceStatus[]): Finding[] {
  const limits = [
    ['access-token-long', 'ACCESS_TOKEN_LIFETIME', HOUR_S],
    ['code-long', 'CODE_LIFETIME', MINUTE_S],
    ['retry-window-long', 'RETRY_WINDOW', MINUTE_S],
  ] as const;
  return limits.flatMap(([id, variable, most]): Finding[] => {
    const values = statuses.map((status) => Number(status.settings?.[variable] ?? 0));
    const longest = Math.max(0, ...values);
    if (longest <= most) return [];
    return finding(id, variable, `it is ${longest} s`, { most });
  });
}

/** Ignores a difference within the duration of the reading. @param skewS CLOCK_SKEW, in seconds */
export function examineClocks(readings: readonly ClockReading[], skewS: number): Finding[] {
  return readings.flatMap(({ place, time, askedAt, answeredAt }): Finding[] => {
    const ahead = time > answeredAt ? time - answeredAt : Math.min(0, time - askedAt);
    if (Math.abs(ahead) < SECOND_MS) return [];
    const problem = `its clock is ${(Math.abs(ahead) / 1000).toFixed(1)} s ${ahead > 0 ? 'ahead of' : 'behind'} this machine's`;
    return finding(Math.abs(ahead) >= skewS * 1000 ? 'clock-wrong' : 'clock-drifts', place, problem);
  });
}

function byValue(pairs: readonly (readonly [string, string])[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [name, value] of pairs) groups.set(value, [...(groups.get(value) ?? []), name]);
  return groups;
}

function listed(groups: ReadonlyMap<string, readonly string[]>): string {
  return [...groups]
    .map(([value, names]) => `${value === '' ? 'empty' : value} in ${names.join(', ')}`)
    .join('; ');
}

/** Number of waiting events above which a process is reported. Under load, one or two batches always wait. */
const WAITING_LIMIT = 1_000;

export function examineBuffers(statuses: readonly ServiceStatus[]): (Finding | NotChecked)[] {
  const reporting = statuses.filter((status) => status.audit !== undefined);
  if (reporting.length === 0) return noneChecked(DOCTOR_AUDIT_CHECKS, 'no process reports its audit buffer');
  return reporting.flatMap((status) => {
    const { waiting = 0, dropped = 0 } = status.audit ?? {};
    const findings = new Findings(DOCTOR_AUDIT_CHECKS, processName(status));
    if (dropped > 0)
      findings.add(
        'audit-dropped',
        `it lost ${dropped} events since ${status.started_at}: its buffer was full`,
      );
    if (waiting > WAITING_LIMIT) findings.add('audit-waiting', `${waiting} events wait for NATS`);
    return findings.list;
  });
}

const SHOWN_RIGHTS = 8;

/** @param difference undefined if the process does not report its rights */
export function examineRights(
  server: 'PostgreSQL' | 'Redis',
  process: string,
  difference: RightsDifference | undefined,
): Finding[] {
  if (!difference) return [];
  const { user, missing, extra } = difference;
  const findings = new Findings(DOCTOR_RIGHTS_CHECKS, `${user} of ${process} at ${server}`);
  if (missing.length > 0) findings.add('rights-missing', `it lacks ${listedRights(missing)}`, { server });
  if (extra.length > 0) findings.add('rights-excessive', `it also has ${listedRights(extra)}`, { server });
  return findings.list;
}

function listedRights(rights: readonly string[]): string {
  const more = rights.length - SHOWN_RIGHTS;
  return rights.slice(0, SHOWN_RIGHTS).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
