import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Client } from '#clients/client.js';
import { revocationReasons } from '#error-guide/revocation-reasons.js';
import type { StoredEvent } from '#events/event.store.js';
import { type EventStream, EventStreamStore } from '#events/event-stream.store.js';
import type { SecurityEventType } from '#events/event-type.js';
import { SECURITY_EVENT_TOKEN_TYPE, securityEventClaims } from '#events/security-event-token.js';
import { subjectOf } from '#oauth/openid/id-token.js';
import { DEFAULT_SIGNING_ALGORITHM, SigningKeys } from '#oauth/openid/signing-keys.js';
import { TokenConfiguration } from '../token.configuration.js';

const SIGNED_MS = 60_000;

/** Signs events for the client of a stream, like its ID tokens. */
@Injectable()
export class SecurityEventTokens {
  /** Signed tokens by `jti`, so that repeated polls cost no signatures. */
  private readonly signed = new LRUCache<string, string>({ max: 2_000, ttl: SIGNED_MS });

  constructor(
    private readonly streams: EventStreamStore,
    private readonly keys: SigningKeys,
    private readonly configuration: TokenConfiguration,
  ) {}

  /** Separates events about subjects that the client has removed from the stream. */
  async split(
    client: Client,
    stream: EventStream,
    events: readonly StoredEvent[],
  ): Promise<{ readonly wanted: readonly StoredEvent[]; readonly excluded: readonly string[] }> {
    const subjects = events.flatMap(({ userId }) => (userId === null ? [] : [subjectOf(client, userId)]));
    const excluded = subjects.length === 0 ? new Set() : await this.streams.excluded(stream.id, subjects);
    const isExcluded = ({ userId }: StoredEvent) =>
      userId !== null && excluded.has(subjectOf(client, userId));
    return {
      wanted: events.filter((event) => !isExcluded(event)),
      excluded: events.filter(isExcluded).map(({ jti }) => jti),
    };
  }

  /** @param event not a logout token */
  async sign(client: Client, stream: EventStream, event: StoredEvent): Promise<string> {
    const known = this.signed.get(event.jti);
    if (known !== undefined) return known;
    const signed = await this.signNow(client, stream, event);
    this.signed.set(event.jti, signed);
    return signed;
  }

  private signNow(client: Client, stream: EventStream, { details, ...event }: StoredEvent): Promise<string> {
    const alg = client.idTokenAlg ?? DEFAULT_SIGNING_ALGORITHM;
    const { reason, ...others } = details as { readonly reason?: string };
    const type = event.type as SecurityEventType;
    const shown = type === 'tokens-revoked' ? { ...others, ...revocationReasons(reason) } : details;
    const receiver = { ...client, streamId: stream.id };
    const claims = securityEventClaims(
      { ...event, type, details: shown },
      receiver,
      this.configuration.BASE_URL,
    );
    return this.keys.sign(claims, alg, SECURITY_EVENT_TOKEN_TYPE);
  }
}
