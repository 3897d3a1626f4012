import type { AuditStreamState } from '#audit/reader.js';
import { check, type DoctorChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_NATS_CHECKS = {
  'nats-anonymous': check('error', 'NATS refuses clients without a password', 'ASVS 5.0 13.2.1'),
  'nats-permissions': check(
    'warning',
    'the operator’s NATS user has only the permissions that its commands need',
    'ASVS 5.0 13.2.2',
  ),
  'nats-unencrypted': check(
    'warning',
    'the connection to NATS is encrypted',
    'RFC 9700 4.9.3',
    'ASVS 5.0 12.3.1',
  ),
  'audit-stream-missing': check('error', 'the audit trail is stored', 'ASVS 5.0 16.3.3'),
  'audit-shared-account': check('warning', 'the audit trail has its own NATS account', 'ASVS 5.0 16.4.2'),
  'audit-deletable': check(
    'warning',
    'the operator’s NATS user cannot delete or shorten the audit trail',
    'ASVS 5.0 16.4.2',
  ),
  'audit-stream-differs': check(
    'warning',
    'the streams of the audit trail have the settings of migrate, and refuse to delete events',
    'ASVS 5.0 16.4.2',
  ),
  'audit-stream-full': check(
    'warning',
    'the audit trail has room for its whole retention',
    'ASVS 5.0 16.1.1',
  ),
  'audit-single-copy': check('info', 'the audit trail is stored on several servers'),
} satisfies DoctorChecks;

/** `differing`: settings that `migrate` would change. */
type StreamFacts = Omit<AuditStreamState, 'config' | 'created' | 'firstSequence' | 'lastSequence'> & {
  readonly differing: readonly string[];
};

export interface NatsFacts {
  readonly place: string;
  readonly encrypted: boolean;
  readonly local: boolean;
  readonly anonymous: boolean;
  /** Descriptions of permissions that the user has and does not need. */
  readonly excessive: readonly string[];
  /** True if the audit trail has the same NATS user as all other messages. */
  readonly shared: boolean;
  readonly trailChanges: readonly string[];
  /** Null if JetStream does not answer; `noStreams` is the reason. */
  readonly streams: readonly StreamFacts[] | null;
  readonly noStreams?: string;
}

const finding = findingOf(DOCTOR_NATS_CHECKS);

const FULL = 0.9;
const MEGABYTE = 1024 * 1024;

export function examineNats(facts: NatsFacts, expected: readonly string[]): Finding[] {
  const { place, encrypted, local, anonymous, excessive, shared, trailChanges } = facts;
  const findings: Finding[] = [];
  const add = (...args: Parameters<typeof finding>) => findings.push(...finding(...args));
  if (anonymous)
    add(
      'nats-anonymous',
      place,
      'anyone who can reach it can read the tokens that APIs introspect, and change users',
    );
  if (excessive.length > 0) add('nats-permissions', place, `this user may ${excessive.join('; ')}`);
  if (shared)
    add(
      'audit-shared-account',
      place,
      'an app that may publish events can send NATS’s confirmation of them to any subject of the product',
    );
  if (trailChanges.length > 0)
    add('audit-deletable', place, `the user of the audit trail may ${trailChanges.join(' and ')}`);
  if (!encrypted && !local)
    add('nats-unencrypted', place, 'tokens cross the network unencrypted when an API introspects them');
  return [...findings, ...expected.flatMap((name) => stream(name, facts))];
}

function stream(name: string, { place, streams, noStreams }: NatsFacts): Finding[] {
  const state = streams?.find((candidate) => candidate.stream === name);
  if (!state)
    return finding(
      'audit-stream-missing',
      `${place} ${name}`,
      streams === null
        ? `JetStream does not answer: ${noStreams}`
        : 'there is no such stream: events are lost',
    );
  const findings: Finding[] = [];
  const add = (...args: Parameters<typeof finding>) => findings.push(...finding(...args));
  const { bytes, maxBytes, maxAgeDays, first, replicas, differing } = state;
  if (differing.length > 0)
    add(
      'audit-stream-differs',
      `${place} ${name}`,
      `its ${differing.join(', ')} are not as migrate sets them`,
    );
  if (maxBytes > 0 && bytes > FULL * maxBytes)
    add(
      'audit-stream-full',
      `${place} ${name}`,
      `${Math.round(bytes / MEGABYTE)} of ${Math.round(maxBytes / MEGABYTE)} MiB are in use, so events are deleted before they are ` +
        `${maxAgeDays} days old: the oldest is from ${first?.toISOString().slice(0, 10) ?? 'today'}`,
    );
  if (replicas === 1)
    add(
      'audit-single-copy',
      `${place} ${name}`,
      'it is stored on one server only: if the disk fails, the trail is lost',
    );
  return findings;
}
