import { Inject, Injectable } from '@nestjs/common';
import type { Client } from '#clients/client.js';
import type { StoredEvent } from '#events/event.store.js';
import type { EventStream } from '#events/event-stream.store.js';
import { LOGOUT_TOKEN_TYPE, logoutTokenClaims } from '#oauth/openid/id-token.js';
import { DEFAULT_SIGNING_ALGORITHM, SigningKeys } from '#oauth/openid/signing-keys.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { OutsideHttp } from '#platform/http/outside-http.js';
import { TokenConfiguration } from '../token.configuration.js';
import { EndedSessionsService } from './ended-sessions.service.js';
import type { Attempt } from './security-event-delivery.js';

/** Posts logout tokens (section 2.5 of OpenID Connect Back-Channel Logout 1.0). */
@Injectable()
export class LogoutDelivery {
  constructor(
    private readonly endedSessions: EndedSessionsService,
    private readonly keys: SigningKeys,
    private readonly http: OutsideHttp,
    private readonly configuration: TokenConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws OutsideFetchError */
  async send(client: Client, stream: EventStream, event: StoredEvent): Promise<Attempt> {
    // Otherwise the client could begin a session that no later logout token ends.
    await this.endedSessions.voidCodes(sessionIn(event.details), event.userId, event.createdAt);
    const { status } = await this.http.fetchOutside(stream.endpointUrl ?? '', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: await this.sign(client, event) }).toString(),
      maxBytes: 0,
    });
    const answer = `status ${status}`;
    // Section 2.8: "If the logout succeeded, the RP MUST respond with HTTP 200 OK". 204 is also accepted.
    if (status === 200 || status === 204) return { outcome: 'delivered', answer };
    // Section 2.8: "400 Bad Request" if the request was invalid or the logout failed. Any other 4xx also counts.
    return { outcome: status >= 400 && status < 500 ? 'refused' : 'failed', answer };
  }

  /** A repetition has the same `jti`, and a later `exp`. */
  private sign(client: Client, { jti, userId, details }: StoredEvent): Promise<string> {
    const ended = { id: jti, userId: userId ?? 0, session: sessionIn(details) };
    const issued = { issuer: this.configuration.BASE_URL, now: this.clock() };
    const alg = client.idTokenAlg ?? DEFAULT_SIGNING_ALGORITHM;
    return this.keys.sign(logoutTokenClaims(client, ended, issued), alg, LOGOUT_TOKEN_TYPE);
  }
}

/** Returns undefined if every session of the user has ended. */
function sessionIn(details: StoredEvent['details']): string | undefined {
  return details['session'] as string | undefined;
}
