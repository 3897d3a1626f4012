import { Injectable } from '@nestjs/common';
import { AuditPublisher } from '#audit/publisher.js';
import { ClientStore } from '#clients/client.store.js';
import { EVENT_ID, EventStore, type StoredEvent } from '#events/event.store.js';
import { type EventStream, EventStreamStore } from '#events/event-stream.store.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { subjectOf } from '#oauth/openid/id-token.js';
import type { Parameters } from '#oauth/parameters.js';
import { EventCounter } from './event-counter.js';
import { errorIn } from './security-event-delivery.js';
import { SecurityEventTokens } from './security-event-tokens.js';

/** Maximum number of tokens in a response. A token has about 800 characters. */
const MAX_EVENTS = 100;
const MAX_ACKNOWLEDGED = 1_000;

/** Delivers events by poll (RFC 8936). An event is returned until the client acknowledges it. */
@Injectable()
export class PollService {
  constructor(
    private readonly streams: EventStreamStore,
    private readonly events: EventStore,
    private readonly clients: ClientStore,
    private readonly tokens: SecurityEventTokens,
    private readonly counter: EventCounter,
    private readonly audit: AuditPublisher,
  ) {}

  /** Responds immediately, also without events (RFC 8936 2.4: the wait is recommended). @throws OAuthError */
  async poll(stream: EventStream, body: Parameters | undefined) {
    const { maxEvents, acknowledged, refused } = readPoll(body);
    await this.finish(stream, acknowledged, 'delivered');
    await this.refuse(stream, refused);
    if (stream.status !== 'enabled') return { sets: {}, moreAvailable: false };
    if (maxEvents === 0) return { sets: {}, moreAvailable: await this.events.hasOutstanding(stream.id) };
    const client = await this.clients.find(stream.clientId);
    if (!client) return { sets: {}, moreAvailable: false };
    const found = await this.events.outstanding(stream.id, maxEvents + 1);
    const page = found.slice(0, maxEvents);
    const subjectIn = ({ userId }: StoredEvent) => (userId === null ? [] : [subjectOf(client, userId)]);
    const excluded = await this.streams.excluded(stream.id, page.flatMap(subjectIn));
    const isExcluded = (event: StoredEvent) => subjectIn(event).some((subject) => excluded.has(subject));
    const unwanted = page.filter(isExcluded).map(({ jti }) => jti);
    await this.finish(stream, unwanted, 'excluded');
    const wanted = page.filter((event) => !isExcluded(event));
    const sets = await Promise.all(
      wanted.map(async (event) => [event.jti, await this.tokens.sign(client, stream, event)] as const),
    );
    return { sets: Object.fromEntries(sets), moreAvailable: found.length > maxEvents };
  }

  private async finish({ id }: EventStream, jtis: readonly string[], outcome: 'delivered' | 'excluded') {
    this.counter.count(outcome, 'poll', await this.events.finish(id, jtis, outcome, null));
  }

  /** RFC 8936 2.2: `setErrs` has the events that the client cannot use, which are final. Records one audit event. */
  private async refuse({ id, clientId }: EventStream, errors: ReadonlyMap<string, string>): Promise<void> {
    const refused = await this.events.refuse(id, errors);
    this.counter.count('refused', 'poll', refused.length);
    const [jti] = refused;
    if (jti === undefined) return;
    this.audit.record({
      type: 'event.failed',
      client_id: clientId,
      check: 'event_refused',
      detail: { jti, outcome: 'refused', failure: errors.get(jti), events: refused.length },
    });
  }
}

interface Poll {
  readonly maxEvents: number;
  readonly ack: readonly unknown[];
  readonly setErrs: Readonly<Record<string, unknown>>;
}

/** @throws OAuthError */
function readPoll(body: Parameters | undefined) {
  const { maxEvents, ack, setErrs }: Poll = { maxEvents: MAX_EVENTS, ack: [], setErrs: {}, ...body };
  const isWellFormed =
    Number.isSafeInteger(maxEvents) && maxEvents >= 0 && Array.isArray(ack) && typeof setErrs === 'object';
  const errors = isWellFormed ? Object.entries(setErrs) : [];
  if (!isWellFormed || ack.length + errors.length > MAX_ACKNOWLEDGED)
    throw OAuthError.invalidRequest('event_poll_malformed');
  return {
    maxEvents: Math.min(maxEvents, MAX_EVENTS),
    acknowledged: ack.filter(isUuid),
    refused: new Map(
      errors.filter(([jti]) => isUuid(jti)).map(([jti, error]) => [jti, errorIn(error) ?? 'unknown']),
    ),
  };
}

function isUuid(value: unknown): value is string {
  return typeof value === 'string' && EVENT_ID.test(value);
}
