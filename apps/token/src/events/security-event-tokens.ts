import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Client } from '#clients/client.js';
import { revocationReasons } from '#error-guide/revocation-reasons.js';
import type { StoredEvent } from '#events/event.store.js';
import type { EventStream } from '#events/event-stream.store.js';
import { type SecurityEventType, uriOf } from '#events/event-type.js';
import { subjectOf } from '#oauth/openid/id-token.js';
import { DEFAULT_SIGNING_ALGORITHM, SigningKeys } from '#oauth/openid/signing-keys.js';
import { TokenConfiguration } from '../token.configuration.js';

/** `typ` of the header (RFC 8417 2.3). */
const TOKEN_TYPE = 'secevent+jwt';
const SIGNED_MS = 60_000;

/** Signs events for the client of a stream, like its ID tokens. */
@Injectable()
export class SecurityEventTokens {
  /** Signed tokens by `jti`, so that repeated polls cost no signatures. */
  private readonly signed = new LRUCache<string, string>({ max: 2_000, ttl: SIGNED_MS });

  constructor(
    private readonly keys: SigningKeys,
    private readonly configuration: TokenConfiguration,
  ) {}

  /** @param event not a logout token */
  async sign(client: Client, stream: EventStream, event: StoredEvent): Promise<string> {
    const known = this.signed.get(event.jti);
    if (known !== undefined) return known;
    const alg = client.idTokenAlg ?? DEFAULT_SIGNING_ALGORITHM;
    const claims = claimsOf(client, stream, event, this.configuration.BASE_URL);
    const signed = await this.keys.sign(claims, alg, TOKEN_TYPE);
    this.signed.set(event.jti, signed);
    return signed;
  }
}

/**
 * Claims of a security event token (RFC 8417 2.2), which has no `exp` and no `sub` (section 4.1 of SSF 1.0). They are
 * the same in every attempt. CAEP events have the time of the event in seconds (section 2 of CAEP 1.0).
 */
function claimsOf(client: Client, stream: EventStream, event: StoredEvent, iss: string) {
  const { jti, txn, userId, type } = event;
  const uri = uriOf(type as SecurityEventType);
  const iat = Math.floor(event.createdAt.getTime() / 1000);
  const { reason, ...details } = event.details as { readonly reason?: string };
  const sub = userId === null ? client.clientId : subjectOf(client, userId);
  return {
    iss,
    aud: client.clientId,
    iat,
    jti,
    txn,
    sub_id: uri.includes('/secevent/ssf/')
      ? { format: 'opaque', id: stream.id }
      : { format: 'iss_sub', iss, sub },
    events: {
      [uri]: {
        ...(uri.includes('/secevent/caep/') && { event_timestamp: iat }),
        ...(type === 'credential-change' && { credential_type: 'password' }),
        ...(type === 'tokens-revoked' ? { ...details, ...revocationReasons(reason) } : event.details),
      },
    },
  };
}
