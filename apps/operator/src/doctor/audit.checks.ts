import type { ServiceStatus } from '#platform/status/status-report.js';
import { check, type Checks, type Finding, noneChecked, type NotChecked } from './finding.js';
import { nameOf } from './process.checks.js';

export const AUDIT_CHECKS = {
  'audit-dropped': check('warning', 'no process has lost an event of the audit trail', 'ASVS 5.0 16.3.3'),
  'audit-waiting': check('warning', 'events reach the audit trail at once', 'ASVS 5.0 16.3.3'),
} satisfies Checks;

/** Under load, one or two batches are always waiting. */
const MANY = 1_000;

export function examineBuffers(statuses: readonly ServiceStatus[]): (Finding | NotChecked)[] {
  const reporting = statuses.filter((status) => status.audit !== undefined);
  if (reporting.length === 0) return noneChecked(AUDIT_CHECKS, 'no process reports its audit buffer');
  return reporting.flatMap((status): Finding[] => {
    const { waiting = 0, dropped = 0 } = status.audit ?? {};
    const subject = nameOf(status);
    const findings: Finding[] = [];
    if (dropped > 0)
      findings.push({
        check: 'audit-dropped',
        subject,
        problem: `it lost ${dropped} events since ${status.started_at}: its buffer was full`,
        remedy:
          'see why NATS did not take them: the log of the process names the error once a minute; the log lines of the requests remain',
      });
    if (waiting > MANY)
      findings.push({
        check: 'audit-waiting',
        subject,
        problem: `${waiting} events wait for NATS`,
        remedy: 'bring JetStream back: the events are lost when the buffer is full or the process ends',
      });
    return findings;
  });
}
