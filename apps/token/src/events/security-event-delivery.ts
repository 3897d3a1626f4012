import { Injectable } from '@nestjs/common';
import type { Client } from '#clients/client.js';
import type { StoredEvent } from '#events/event.store.js';
import type { EventStream } from '#events/event-stream.store.js';
import { OutsideHttp } from '#platform/http/outside-http.js';
import { HeaderSeal } from './header-seal.js';
import { SecurityEventTokens } from './security-event-tokens.js';

export interface Attempt {
  readonly outcome: 'delivered' | 'refused' | 'failed';
  readonly answer: string;
  /** True if the service must not connect to the address. */
  readonly isForbidden?: boolean;
}

/** Maximum bytes of a receiver's error (RFC 8935 2.4). */
const MAX_ERROR = 4_096;
const UNREADABLE_HEADER =
  'the authorization header was encrypted by a removed key or for another address: set it again';

/** Pushes security event tokens (RFC 8935). */
@Injectable()
export class SecurityEventDelivery {
  constructor(
    private readonly tokens: SecurityEventTokens,
    private readonly seal: HeaderSeal,
    private readonly http: OutsideHttp,
  ) {}

  /**
   * RFC 8935 2.2: 202 acknowledges the event. 2.4: 400 with `err` refuses it, which a repetition would not change.
   * @throws OutsideFetchError
   */
  async send(client: Client, stream: EventStream, event: StoredEvent): Promise<Attempt> {
    const sealed = stream.authorizationHeader;
    const authorization = sealed && this.seal.open(sealed, stream);
    if (sealed !== null && authorization === null) return { outcome: 'failed', answer: UNREADABLE_HEADER };
    const { status, body } = await this.http.fetchOutside(stream.endpointUrl ?? '', {
      method: 'POST',
      headers: {
        'Content-Type': 'application/secevent+jwt',
        Accept: 'application/json',
        ...(authorization !== null && { Authorization: authorization }),
      },
      body: await this.tokens.sign(client, stream, event),
      maxBytes: (answered) => (answered === 400 ? MAX_ERROR : 0),
    });
    if (status >= 200 && status < 300) return { outcome: 'delivered', answer: `status ${status}` };
    const err = status === 400 ? errorOf(body) : null;
    return err === null
      ? { outcome: 'failed', answer: `status ${status}` }
      : { outcome: 'refused', answer: `status ${status}, ${err}` };
  }
}

function errorOf(body: Buffer): string | null {
  try {
    return errorIn(JSON.parse(body.toString()));
  } catch {
    return null;
  }
}

/** Returns the code of a receiver's error (RFC 8935 2.4, RFC 8936 2.6); null if the value is not one. */
export function errorIn(value: unknown): string | null {
  const { err } = (value ?? {}) as { readonly err?: unknown };
  return typeof err === 'string' && /^[\w-]{1,64}$/.test(err) ? err : null;
}
