import type { ServiceStatus } from '#platform/status/status-report.js';
import { processName } from '#operations/wording.js';
import {
  check,
  type DoctorChecks,
  type Finding,
  findingOf,
  noneChecked,
  type NotChecked,
} from './finding.js';

export const DOCTOR_AUDIT_CHECKS = {
  'audit-dropped': check('warning', 'no process has lost audit events', 'ASVS 5.0 16.3.3'),
  'audit-waiting': check('warning', 'events reach the audit trail without delay', 'ASVS 5.0 16.3.3'),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_AUDIT_CHECKS);

/** Number of waiting events above which a process is reported. Under load, one or two batches always wait. */
const WAITING_LIMIT = 1_000;

export function examineBuffers(statuses: readonly ServiceStatus[]): (Finding | NotChecked)[] {
  const reporting = statuses.filter((status) => status.audit !== undefined);
  if (reporting.length === 0) return noneChecked(DOCTOR_AUDIT_CHECKS, 'no process reports its audit buffer');
  return reporting.flatMap((status): Finding[] => {
    const { waiting = 0, dropped = 0 } = status.audit ?? {};
    const subject = processName(status);
    const findings: Finding[] = [];
    const add = (...args: Parameters<typeof finding>) => findings.push(...finding(...args));
    if (dropped > 0)
      add(
        'audit-dropped',
        subject,
        `it lost ${dropped} events since ${status.started_at}: its buffer was full`,
      );
    if (waiting > WAITING_LIMIT) add('audit-waiting', subject, `${waiting} events wait for NATS`);
    return findings;
  });
}
