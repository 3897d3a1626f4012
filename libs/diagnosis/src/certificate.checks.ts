import { check, type DoctorChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_CERTIFICATE_CHECKS = {
  'certificate-expired': check('error', 'certificates are valid today', 'RFC 9700 2.6', 'ASVS 5.0 12.2.1'),
  'certificate-untrusted': check(
    'error',
    'browsers and applications trust the public certificates',
    'RFC 6749 1.6',
    'ASVS 5.0 12.2.2',
  ),
  'certificate-expires': check('warning', 'certificates are renewed in time', 'ASVS 5.0 12.2.1'),
  'tls-outdated': check('warning', 'TLS 1.0 and 1.1 are off', 'ASVS 5.0 12.1.1'),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_CERTIFICATE_CHECKS);

export interface Certificate {
  /** Variable, host and port. */
  readonly place: string;
  readonly validFrom: Date;
  readonly validTo: Date;
  /**
   * Reason why the certificate is not trusted; null if trusted, or for a database or NATS, which may use a private
   * authority.
   */
  readonly untrusted: string | null;
  readonly outdated: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * Minimum remaining validity: the lesser of this time and a share of the whole validity. Automatic renewal happens
 * earlier, so it has failed if less time remains.
 */
const MIN_REMAINING_MS = 21 * DAY_MS;
const MIN_REMAINING_SHARE = 0.25;

export function examineCertificate(certificate: Certificate, now: number): Finding[] {
  const { place: subject, validFrom, validTo, untrusted, outdated } = certificate;
  const left = validTo.getTime() - now;
  const findings: Finding[] = [];
  const add = (...args: Parameters<typeof finding>) => findings.push(...finding(...args));
  if (left <= 0 || validFrom.getTime() > now)
    add('certificate-expired', subject, `its certificate is valid from ${day(validFrom)} to ${day(validTo)}`);
  else {
    if (left < Math.min(MIN_REMAINING_MS, MIN_REMAINING_SHARE * (validTo.getTime() - validFrom.getTime())))
      add('certificate-expires', subject, `its certificate expires on ${day(validTo)}`);
    if (untrusted !== null)
      add('certificate-untrusted', subject, `its certificate is not trusted: ${untrusted}`);
  }
  if (outdated) add('tls-outdated', subject, 'it accepts TLS 1.0 or 1.1');
  return findings;
}

const day = (date: Date): string => date.toISOString().slice(0, 10);
