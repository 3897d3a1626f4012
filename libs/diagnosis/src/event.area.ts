import type { ClientStore } from '#clients/client.store.js';
import type { EventStream, EventStreamStore } from '#events/event-stream.store.js';
import { quoted } from '#operations/wording.js';
import { type Area, check, type DoctorChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_EVENT_CHECKS = {
  'event-stream-paused': check('warning', 'no event stream is paused', 'SSF 1.0 8.1.2'),
  'event-receiver-failing': check('info', 'receivers accept their events', 'RFC 8935 2.4'),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_EVENT_CHECKS);

/** A report has at most 100 findings of a check. */
const MAX_STREAMS = 200;

/** Receivers of events. The area of log-outs has the receivers of logout tokens. */
export function eventArea(streams: EventStreamStore, clients: ClientStore): Area {
  return {
    name: 'events',
    checks: DOCTOR_EVENT_CHECKS,
    examine: async () => {
      const found = await streams.failing(MAX_STREAMS);
      return examineStreams(found, await clients.names(found.map(({ clientId }) => clientId)));
    },
  };
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
