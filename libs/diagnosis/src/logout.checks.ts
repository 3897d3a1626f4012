import { quoted } from '#operations/wording.js';
import { check, type DoctorChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_LOGOUT_CHECKS = {
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
  /** True if the receiver failed for a day, so that the service has paused the delivery. */
  readonly isPaused: boolean;
  /** Latest failure of any outcome. */
  readonly last: { readonly time: string; readonly failure: string };
}

/** @param clients clients with failures in the last day */
export function examineLogouts(clients: readonly ClientLogouts[]): Finding[] {
  return clients.flatMap(({ clientId, name, refused, isPaused, last }) =>
    refused === 0 && !isPaused
      ? []
      : finding(
          'logout-tokens-failed',
          `${clientId} ${quoted(name)}`,
          `in the last day it refused ${refused} logout tokens${isPaused ? ', and the delivery is paused' : ''}; the last failure at ${last.time}: ${last.failure}`,
          { clientId },
        ),
  );
}
