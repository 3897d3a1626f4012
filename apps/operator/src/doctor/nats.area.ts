import { connect, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { AUDIT_STREAMS } from '#audit/event.js';
import { natsOptions } from '#platform/nats/nats.connection.js';
import { withNats } from '../connections/nats.connection.js';
import { isLoopback } from './address.checks.js';
import type { Area } from './finding.js';
import { examineNats, NATS_CHECKS, type NatsFacts } from './nats.checks.js';

const TIMEOUT_MS = 5_000;
const LIMIT_MS = 10_000;

/**
 * Permissions that the operator's user does not need. No app uses exactly these subjects, so a permitted probe reads no message
 * and changes nothing.
 */
const SUBSCRIPTIONS: Readonly<Record<string, string>> = {
  'oauth.token.doctor': 'read the tokens that APIs introspect (subscribe to oauth.token.>)',
  'oauth.user.doctor': 'read what the product says about users (subscribe to oauth.user.>)',
  '_INBOX.doctor.probe': 'read the answers to others (subscribe to _INBOX.>)',
};
const PUBLICATIONS: Readonly<Record<string, string>> = {
  'oauth.user.doctor': 'change users (publish to oauth.user.>)',
};
const DELETION = '$JS.API.STREAM.DELETE.DOCTOR';

export function natsArea(natsUrl: string): Area {
  const wanted = Object.values(AUDIT_STREAMS).map(({ name }) => name);
  return {
    name: 'nats',
    checks: NATS_CHECKS,
    examine: async () => examineNats(await readFacts(natsUrl), wanted),
  };
}

async function readFacts(natsUrl: string): Promise<NatsFacts> {
  const servers = natsUrl.split(',').map((server) => new URL(server.trim()));
  const denied = await withNats(natsUrl, deniedSubjects, LIMIT_MS);
  const permitted = (operation: 'subscription' | 'publish', probes: Readonly<Record<string, string>>) =>
    Object.entries(probes)
      .filter(([subject]) => !denied.has(`${operation} ${subject}`))
      .map(([, description]) => description);
  return {
    place: servers.map(({ host }) => host).join(','),
    encrypted: servers.every(({ protocol }) => protocol === 'tls:'),
    local: servers.every(({ hostname }) => isLoopback(`http://${hostname}`)),
    anonymous: await acceptsAnonymous(natsUrl),
    excessive: [...permitted('subscription', SUBSCRIPTIONS), ...permitted('publish', PUBLICATIONS)],
    mayDeleteTrail: !denied.has(`publish ${DELETION}`),
    ...(await readStreams(natsUrl)),
  };
}

/** Tries each probe; NATS answers what is not permitted with an error, in order, before the answer to the flush. */
async function deniedSubjects(nats: NatsConnection): Promise<ReadonlySet<string>> {
  const denied = new Set<string>();
  const deny = (error: unknown) => {
    if (error instanceof PermissionViolationError) denied.add(`${error.operation} ${error.subject}`);
  };
  const watch = async () => {
    for await (const event of nats.status()) if (event.type === 'error') deny(event.error);
  };
  void watch();
  for (const subject of Object.keys(SUBSCRIPTIONS)) nats.subscribe(subject, { callback: deny });
  for (const subject of [...Object.keys(PUBLICATIONS), DELETION]) nats.publish(subject);
  await nats.flush();
  // The errors are handed over in later turns than they arrive.
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

async function readStreams(natsUrl: string): Promise<Pick<NatsFacts, 'streams' | 'noStreams'>> {
  // Loaded on demand: no other part needs it.
  const { AuditReader } = await import('#audit/reader.js');
  const reader = await AuditReader.open(natsUrl);
  try {
    return { streams: await reader.streams() };
  } catch (error) {
    return { streams: null, noStreams: error instanceof Error ? error.message : String(error) };
  } finally {
    await reader.close();
  }
}
