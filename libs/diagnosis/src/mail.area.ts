import type { MailStore, WaitingMails } from '#mail/mail.store.js';
import { processName } from '#operations/wording.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { type Area, check, type DoctorChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_MAIL_CHECKS = {
  'mail-unsendable': check('warning', 'the mail server accepts connections and the login'),
  'mails-waiting': check('warning', 'mails are sent'),
  'mails-given-up': check('warning', 'no mail was given up in the last day'),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_MAIL_CHECKS);

/** Mails to owners and to the operator. */
export function mailArea(mails: MailStore, ask: () => Promise<readonly ServiceStatus[]>): Area {
  return {
    name: 'mail',
    checks: DOCTOR_MAIL_CHECKS,
    examine: async () => examineMails(await mails.waiting(), await ask()),
  };
}

export function examineMails(
  { count, since, answer, expired }: WaitingMails,
  statuses: readonly ServiceStatus[],
): Finding[] {
  const isOff = statuses.every(({ mail }) => mail === undefined);
  const reason = answer ?? (isOff ? 'no token app has DEVELOPERS_URL' : 'no attempt was made');
  return [
    ...statuses.flatMap((status): Finding[] =>
      status.mail?.transport === 'smtp' && status.mail.failure !== null
        ? finding('mail-unsendable', processName(status), status.mail.failure)
        : [],
    ),
    ...(count > 0
      ? finding('mails-waiting', 'mails', `${count} wait, since ${since?.toISOString() ?? 'now'}: ${reason}`)
      : []),
    ...(expired > 0
      ? finding('mails-given-up', 'mails', `${expired} were given up in the last day, after three days`)
      : []),
  ];
}
