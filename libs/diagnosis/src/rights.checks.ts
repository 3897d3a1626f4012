import type { RightsDifference } from '#platform/status/status-report.js';
import { check, type DoctorChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_RIGHTS_CHECKS = {
  'rights-missing': check('error', 'each process has the rights in PostgreSQL and Redis that it needs'),
  'rights-excessive': check(
    'warning',
    'each process has only the rights in PostgreSQL and Redis that it needs, so that its stolen credential harms only this process',
    'ASVS 5.0 13.2.2',
  ),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_RIGHTS_CHECKS);

const SHOWN = 8;

type Server = 'PostgreSQL' | 'Redis';

/** @param difference undefined if the process does not report its rights */
export function examineRights(
  server: Server,
  process: string,
  difference: RightsDifference | undefined,
): Finding[] {
  if (!difference) return [];
  const { user, missing, extra } = difference;
  const subject = `${user} of ${process} at ${server}`;
  return [
    ...(missing.length > 0
      ? finding('rights-missing', subject, `it lacks ${listed(missing)}`, { server })
      : []),
    ...(extra.length > 0
      ? finding('rights-excessive', subject, `it also has ${listed(extra)}`, { server })
      : []),
  ];
}

function listed(rights: readonly string[]): string {
  const more = rights.length - SHOWN;
  return rights.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
