import type { AuditEvent } from '#audit/event.js';
import type { ClientStore } from '#clients/client.store.js';
import type { EventStream, EventStreamStore } from '#events/event-stream.store.js';
import type { MailStore, WaitingMails } from '#mail/mail.store.js';
import type { AuditTrail } from '#operations/audit-trail.js';
import { processName, quoted } from '#operations/wording.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { type Area, declareChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_DELIVERY_CHECKS = {
  logouts: declareChecks({
    'logout-tokens-failed': 'warning: applications accept their logout tokens [Back-Channel Logout 1.0 2.8]',
  }),
  events: declareChecks({
    'event-stream-paused': 'warning: no event stream is paused [SSF 1.0 8.1.2]',
    'event-receiver-failing': 'info: receivers accept their events [RFC 8935 2.4]',
  }),
  mail: declareChecks({
    'mail-unsendable': 'warning: the mail server accepts connections and the login',
    'mails-waiting': 'warning: mails are sent',
    'mails-given-up': 'warning: no mail was given up in the last day',
  }),
};

const { logouts, events, mail } = DOCTOR_DELIVERY_CHECKS;
const finding = findingOf({ ...logouts, ...events, ...mail });

const DAY_MS = 24 * 60 * 60_000;
/** A report has at most 100 findings of a check. */
const MAX_STREAMS = 200;

interface Sources {
  readonly trail: AuditTrail;
  readonly clients: ClientStore;
  readonly streams: EventStreamStore;
  readonly mails: MailStore;
}

/** Logout tokens, events, and mails to owners and to the operator. */
export function deliveryAreas(
  { trail, clients, streams, mails }: Sources,
  ask: () => Promise<readonly ServiceStatus[]>,
): Area[] {
  return [
    {
      name: 'logouts',
      checks: logouts,
      examine: async () => examineLogouts(await failuresOfClients(trail, clients)),
    },
    {
      name: 'events',
      checks: events,
      examine: async () => {
        const found = await streams.failing(MAX_STREAMS);
        return examineStreams(found, await clients.names(found.map(({ clientId }) => clientId)));
      },
    },
    { name: 'mail', checks: mail, examine: async () => examineMails(await mails.waiting(), await ask()) },
  ];
}

export interface ClientLogouts {
  readonly clientId: string;
  readonly name: string;
  readonly refused: number;
  /** True if the receiver failed for a day, so that the service has paused the delivery. */
  readonly isPaused: boolean;
  /** Latest failure of any outcome. */
  readonly last: { readonly time: string; readonly failure: string };
}

/** Excludes clients that no longer receive logout tokens. */
async function failuresOfClients(trail: AuditTrail, store: ClientStore): Promise<ClientLogouts[]> {
  const byClient = await trail.read(async (reader) => {
    const since = new Date(Date.now() - DAY_MS);
    const failures = new Map<string, Omit<ClientLogouts, 'name'>>();
    for await (const event of reader.read({ types: ['logout_token.failed'], since })) add(failures, event);
    return failures;
  });
  const failing: ClientLogouts[] = [];
  for (const failures of byClient.values()) {
    const client = await store.find(failures.clientId);
    if (client && client.disabledAt === null && client.backchannelLogoutUri !== null)
      failing.push({ ...failures, name: client.name });
  }
  return failing;
}

function add(
  failures: Map<string, Omit<ClientLogouts, 'name'>>,
  { client_id: clientId = '', time, detail }: AuditEvent,
): void {
  const { refused = 0, isPaused = false } = failures.get(clientId) ?? {};
  const outcome = detail?.['outcome'];
  failures.set(clientId, {
    clientId,
    refused: refused + (outcome === 'refused' ? 1 : 0),
    isPaused: isPaused || outcome === 'paused',
    last: { time, failure: String(detail?.['failure']) },
  });
}

/** @param clients clients with failures in the last day */
export function examineLogouts(clients: readonly ClientLogouts[]): Finding[] {
  return clients.flatMap(({ clientId, name, refused, isPaused, last }) => {
    if (refused === 0 && !isPaused) return [];
    const problem = `in the last day it refused ${refused} logout tokens${isPaused ? ', and the delivery is paused' : ''}; the last failure at ${last.time}: ${last.failure}`;
    return finding('logout-tokens-failed', `${clientId} ${quoted(name)}`, problem, { clientId });
  });
}

/** @param streams paused or failing streams */
export function examineStreams(
  streams: readonly Pick<EventStream, 'clientId' | 'status' | 'statusReason' | 'failingSince' | 'dueAt'>[],
  names: ReadonlyMap<string, string>,
): Finding[] {
  return streams.flatMap(({ clientId, status, statusReason: reason, failingSince, dueAt }) => {
    const subject = `${clientId} ${quoted(names.get(clientId) ?? '')}`;
    const waits = `its events wait, for a week${reason === null ? '' : `: ${reason}`}`;
    const fails = `its receiver has failed since ${failingSince?.toISOString() ?? ''}; the next attempt is at ${dueAt.toISOString()}`;
    return status === 'paused'
      ? finding('event-stream-paused', subject, waits, { clientId })
      : finding('event-receiver-failing', subject, fails, { clientId });
  });
}

export function examineMails(
  { count, since, answer, expired }: WaitingMails,
  statuses: readonly ServiceStatus[],
): Finding[] {
  const findings = statuses.flatMap((status): Finding[] =>
    status.mail?.transport === 'smtp' && status.mail.failure !== null
      ? finding('mail-unsendable', processName(status), status.mail.failure)
      : [],
  );
  const isOff = statuses.every((status) => status.mail === undefined);
  const reason = answer ?? (isOff ? 'no token app has DEVELOPERS_URL' : 'no attempt was made');
  const waiting = `${count} wait, since ${since?.toISOString() ?? 'now'}: ${reason}`;
  if (count > 0) findings.push(...finding('mails-waiting', 'mails', waiting));
  const givenUp = `${expired} were given up in the last day, after three days`;
  if (expired > 0) findings.push(...finding('mails-given-up', 'mails', givenUp));
  return findings;
}
