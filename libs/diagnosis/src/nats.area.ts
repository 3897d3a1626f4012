import { connect, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { AUDIT_STREAMS } from '#audit/event.js';
import type { AuditRetention } from '#audit/retention.js';
import { differingSettings } from '#audit/streams.js';
import { natsOptions } from '#messaging/nats.connection.js';
import { type AdministrationSettings, retentionOf, trailServer } from '#operations/administration.options.js';
import type { AuditTrail } from '#operations/audit-trail.js';
import { withNats } from '#operations/operator-nats.js';
import { isLoopbackUrl } from './address.checks.js';
import type { Area } from './finding.js';
import { examineNats, DOCTOR_NATS_CHECKS, type NatsFacts } from './nats.checks.js';

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
  const natsUrl = settings.NATS_URL;
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
    ...(await readStreams(trail, retentionOf(settings))),
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
