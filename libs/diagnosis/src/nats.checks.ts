import { connect, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { AUDIT_STREAMS } from '#audit/event.js';
import type { AuditStreamState } from '#audit/reader.js';
import type { AuditRetention } from '#audit/retention.js';
import { differingSettings } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { type AdministrationSettings, trailServer } from '#operations/administration.options.js';
import type { AuditTrail } from '#operations/audit-trail.js';
import { withNats } from '#operations/operator-nats.js';
import { isLoopbackUrl } from './address.checks.js';
import { type Area, declareChecks, type Finding, Findings } from './finding.js';

export const DOCTOR_NATS_CHECKS = declareChecks({
  'nats-anonymous': 'error: NATS refuses clients without a password [ASVS 5.0 13.2.1]',
  'nats-permissions':
    'warning: the operator’s NATS user has only the permissions that its commands need [ASVS 5.0 13.2.2]',
  'nats-unencrypted': 'warning: the connection to NATS is encrypted [RFC 9700 4.9.3; ASVS 5.0 12.3.1]',
  'audit-stream-missing': 'error: the audit trail is stored [ASVS 5.0 16.3.3]',
  'audit-shared-account': 'warning: the audit trail has its own NATS account [ASVS 5.0 16.4.2]',
  'audit-deletable':
    'warning: the operator’s NATS user cannot delete or shorten the audit trail [ASVS 5.0 16.4.2]',
  'audit-stream-differs':
    'warning: the streams of the audit trail have the settings of migrate, and refuse to delete events [ASVS 5.0 16.4.2]',
  'audit-stream-full': 'warning: the audit trail has room for its whole retention [ASVS 5.0 16.1.1]',
  'audit-single-copy': 'info: the audit trail is stored on several servers',
});

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

const TIMEOUT_MS = 5_000;
const LIMIT_MS = 10_000;

/** Subjects that no app uses, so that a permitted probe reads no message and changes nothing. */
const SUBSCRIPTIONS: Probes = {
  'oauth.token.doctor': 'read the tokens that APIs introspect (subscribe to oauth.token.>)',
  'oauth.user.doctor': 'read user updates of the product (subscribe to oauth.user.>)',
  '_INBOX.doctor.probe': 'read responses to other clients (subscribe to _INBOX.>)',
};
const PUBLICATIONS: Probes = {
  'oauth.user.doctor': 'change users (publish to oauth.user.>)',
};
/** Probes for the NATS user of the audit trail. The stream DOCTOR does not exist. */
const CHANGES: Probes = {
  '$JS.API.STREAM.DELETE.DOCTOR': 'delete its streams',
  '$JS.API.STREAM.UPDATE.DOCTOR': 'shorten its streams',
};

export function natsArea(settings: AdministrationSettings, trail: AuditTrail): Area {
  const expected = AUDIT_STREAMS.map(({ name }) => name);
  return {
    name: 'nats',
    checks: DOCTOR_NATS_CHECKS,
    examine: async () => examineNats(await readFacts(settings, trail), expected),
  };
}

async function readFacts(settings: AdministrationSettings, trail: AuditTrail): Promise<NatsFacts> {
  const { natsUrl } = settings;
  const { url: trailUrl } = trailServer(settings);
  const servers = natsUrl.split(',').map((server) => new URL(server.trim()));
  return {
    place: servers.map(({ host }) => host).join(','),
    encrypted: servers.every(({ protocol }) => protocol === 'tls:'),
    local: servers.every(({ hostname }) => isLoopbackUrl(`http://${hostname}`)),
    anonymous: await acceptsAnonymous(natsUrl),
    excessive: await permittedOf(natsUrl, SUBSCRIPTIONS, PUBLICATIONS),
    shared: userOf(trailUrl) === userOf(natsUrl),
    trailChanges: await permittedOf(trailUrl, {}, CHANGES),
    ...(await readStreams(trail, settings.auditRetention)),
  };
}

const userOf = (url: string): string => new URL(url.split(',')[0] ?? '').username;

type Probes = Readonly<Record<string, string>>;

async function permittedOf(url: string, subscriptions: Probes, publications: Probes): Promise<string[]> {
  const denied = await withNats(
    url,
    (nats) => deniedSubjects(nats, Object.keys(subscriptions), Object.keys(publications)),
    LIMIT_MS,
  );
  const permitted = (operation: string, probes: Probes) =>
    Object.entries(probes)
      .filter(([subject]) => !denied.has(`${operation} ${subject}`))
      .map(([, description]) => description);
  return [...permitted('subscription', subscriptions), ...permitted('publish', publications)];
}

/** Tries each probe. NATS reports denied probes, in order, before the response to the flush. */
async function deniedSubjects(
  nats: NatsConnection,
  subscriptions: readonly string[],
  publications: readonly string[],
): Promise<ReadonlySet<string>> {
  const denied = new Set<string>();
  const deny = (error: unknown) => {
    if (error instanceof PermissionViolationError) denied.add(`${error.operation} ${error.subject}`);
  };
  const watch = async () => {
    for await (const event of nats.status()) if (event.type === 'error') deny(event.error);
  };
  void watch();
  for (const subject of subscriptions) nats.subscribe(subject, { callback: deny });
  for (const subject of publications) nats.publish(subject);
  await nats.flush();
  // The client library delivers the errors asynchronously.
  await nats.flush();
  return denied;
}

async function acceptsAnonymous(natsUrl: string): Promise<boolean> {
  const {
    user: _,
    pass: __,
    token: ___,
    ...anonymous
  } = natsOptions(natsUrl, 'operator') as Record<string, unknown>;
  try {
    const nats = await connect({
      ...anonymous,
      timeout: TIMEOUT_MS,
      waitOnFirstConnect: false,
      reconnect: false,
    });
    await nats.close();
    return true;
  } catch {
    return false;
  }
}

async function readStreams(
  trail: AuditTrail,
  retention: AuditRetention,
): Promise<Pick<NatsFacts, 'streams' | 'noStreams'>> {
  try {
    const streams = await trail.read((reader) => reader.streams());
    return {
      streams: streams.map((state) => ({ ...state, differing: differingSettings(state.config, retention) })),
    };
  } catch (error) {
    return { streams: null, noStreams: error instanceof Error ? error.message : String(error) };
  }
}

const FULL = 0.9;
const MEGABYTE = 1024 * 1024;

export function examineNats(facts: NatsFacts, expected: readonly string[]): Finding[] {
  const { place, encrypted, local, anonymous, excessive, shared, trailChanges } = facts;
  const findings = new Findings(DOCTOR_NATS_CHECKS, place);
  if (anonymous)
    findings.add(
      'nats-anonymous',
      'anyone who can reach it can read the tokens that APIs introspect, and change users',
    );
  if (excessive.length > 0) findings.add('nats-permissions', `this user may ${excessive.join('; ')}`);
  if (shared)
    findings.add(
      'audit-shared-account',
      'an app that may publish events can send NATS’s confirmation of them to any subject of the product',
    );
  if (trailChanges.length > 0)
    findings.add('audit-deletable', `the user of the audit trail may ${trailChanges.join(' and ')}`);
  if (!encrypted && !local)
    findings.add('nats-unencrypted', 'tokens cross the network unencrypted when an API introspects them');
  return [...findings.list, ...expected.flatMap((name) => stream(name, facts))];
}

function stream(name: string, { place, streams, noStreams }: NatsFacts): Finding[] {
  const findings = new Findings(DOCTOR_NATS_CHECKS, `${place} ${name}`);
  const state = streams?.find((candidate) => candidate.stream === name);
  if (!state) {
    const isOff = streams === null;
    const problem = isOff
      ? `JetStream does not answer: ${noStreams}`
      : 'there is no such stream: events are lost';
    findings.add('audit-stream-missing', problem);
    return findings.list;
  }
  const { bytes, maxBytes, maxAgeDays, first, replicas, differing } = state;
  if (differing.length > 0)
    findings.add('audit-stream-differs', `its ${differing.join(', ')} are not as migrate sets them`);
  if (maxBytes > 0 && bytes > FULL * maxBytes)
    findings.add(
      'audit-stream-full',
      `${Math.round(bytes / MEGABYTE)} of ${Math.round(maxBytes / MEGABYTE)} MiB are in use, so events are deleted before they are ` +
        `${maxAgeDays} days old: the oldest is from ${first?.toISOString().slice(0, 10) ?? 'today'}`,
    );
  if (replicas === 1)
    findings.add(
      'audit-single-copy',
      'it is stored on one server only: if the disk fails, the trail is lost',
    );
  return findings.list;
}
