import { Injectable } from '@nestjs/common';
import { AuditPublisher } from '#audit/publisher.js';
import { ClientStore } from '#clients/client.store.js';
import { EVENT_ID, EventStore } from '#events/event.store.js';
import type { EventStream } from '#events/event-stream.store.js';
import { OAuthError } from '#oauth/oauth-error.js';
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
    private readonly events: EventStore,
    private readonly clients: ClientStore,
    private readonly tokens: SecurityEventTokens,
    private readonly counter: EventCounter,
    private readonly audit: AuditPublisher,
  ) {}

  /** Responds immediately, also without events (RFC 8936 2.4: the wait is recommended). @throws OAuthError */
  async poll(stream: EventStream, body: Parameters | undefined) {
    const { maxEvents, acknowledged, refused } = readPoll(body);
    this.counter.count(
      'delivered',
      'poll',
      await this.events.finish(stream.id, acknowledged, 'delivered', null),
    );
    await this.refuse(stream, refused);
    if (maxEvents === 0 || stream.status !== 'enabled')
      return {
        sets: {},
        moreAvailable: stream.status === 'enabled' && (await this.events.hasOutstanding(stream.id)),
      };
    const client = await this.clients.find(stream.clientId);
    if (!client) return { sets: {}, moreAvailable: false };
    const found = await this.events.outstanding(stream.id, maxEvents + 1);
    const { wanted, excluded } = await this.tokens.split(client, stream, found.slice(0, maxEvents));
    this.counter.count('excluded', 'poll', await this.events.finish(stream.id, excluded, 'excluded', null));
    const sets = await Promise.all(
      wanted.map(async (event) => [event.jti, await this.tokens.sign(client, stream, event)] as const),
    );
    return { sets: Object.fromEntries(sets), moreAvailable: found.length > maxEvents };
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

/** @throws OAuthError */
function readPoll(body: Parameters | undefined): {
  readonly maxEvents: number;
  readonly acknowledged: readonly string[];
  /** Errors by `jti`. */
  readonly refused: ReadonlyMap<string, string>;
} {
  const {
    maxEvents = MAX_EVENTS,
    ack = [],
    setErrs = {},
  } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const errors = typeof setErrs === 'object' ? Object.entries(setErrs as object) : [];
  if (
    !Number.isSafeInteger(maxEvents) ||
    (maxEvents as number) < 0 ||
    !Array.isArray(ack) ||
    typeof setErrs !== 'object' ||
    ack.length + errors.length > MAX_ACKNOWLEDGED
  )
    throw OAuthError.invalidRequest('event_poll_malformed');
  return {
    maxEvents: Math.min(maxEvents as number, MAX_EVENTS),
    acknowledged: ack.filter(isUuid),
    refused: new Map(
      errors.filter(([jti]) => isUuid(jti)).map(([jti, error]) => [jti, errorIn(error) ?? 'unknown']),
    ),
  };
}

function isUuid(value: unknown): value is string {
  return typeof value === 'string' && EVENT_ID.test(value);
}
