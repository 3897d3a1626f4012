import { createHmac, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { KeyRing } from '#keys/key-ring.js';
import { addressNetwork, addressSite } from '#platform/http/client-address.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import type { KnownDevice } from './device-cookie.js';
import { type Counters, type RefusingCounter, ThrottleStore } from './throttle.store.js';

export interface Attempt {
  readonly outcome: 'device' | 'unknown';
  readonly id: string;
  readonly counters: Counters;
}

export interface ThrottledAttempt {
  readonly outcome: 'refused';
  readonly counter: RefusingCounter;
  /** Seconds until the next attempt is allowed, rounded up. */
  readonly seconds: number;
}

/**
 * Slows down password guessing without locking accounts (OWASP, "Slow Down Online Guessing Attacks with Device
 * Cookies"). Failures on known devices count separately. Unknown accounts count too, so the throttle does not
 * reveal which accounts exist.
 */
@Injectable()
export class LoginThrottleService {
  private readonly key: Buffer;

  constructor(
    keys: KeyRing,
    private readonly store: ThrottleStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.key = keys.signingKeyFor('throttle');
  }

  /** Counts an attempt as failed before the password is verified. `succeeded` and `cancel` remove the attempt. */
  async count(
    login: string,
    address: string | undefined,
    device: KnownDevice | null,
    random: (size: number) => Buffer = randomBytes,
  ): Promise<Attempt | ThrottledAttempt> {
    const counters = this.counters(normalizeLogin(login), address, device);
    const id = random(9).toString('base64url');
    const verdict = await this.store.count(counters, id, this.clock()).catch((error: unknown) => {
      this.removeLater(counters, id);
      throw error;
    });
    if (verdict.outcome !== 'refused') return { outcome: verdict.outcome, id, counters };
    return { outcome: 'refused', counter: verdict.counter, seconds: Math.ceil(verdict.wait / 1000) };
  }

  async succeeded({ outcome, id, counters }: Attempt): Promise<void> {
    const { addressAndLogin, address, login, siteAndLogin } = counters;
    // Keeps the failures of a known device, because a thief of its cookie must not profit from the owner's logins.
    if (outcome === 'device') return this.cancel({ outcome, id, counters });
    // Other people may share the other counters, so only this attempt is removed from them.
    const others = [address, login, siteAndLogin].filter((counter) => counter !== addressAndLogin);
    await Promise.all([this.store.clear(addressAndLogin), this.store.remove(others, id)]);
  }

  async cancel({ outcome, id, counters }: Attempt): Promise<void> {
    const { addressAndLogin, address, login, siteAndLogin, device } = counters;
    const taken = outcome === 'device' ? [device ?? ''] : [addressAndLogin, address, login, siteAndLogin];
    await this.store.remove(taken, id);
  }

  /**
   * Removes an attempt that Redis may have counted without responding, so that retries during an outage do not throttle
   * the user.
   */
  private removeLater({ addressAndLogin, address, login, siteAndLogin, device }: Counters, id: string): void {
    const names = [addressAndLogin, address, login, siteAndLogin, ...(device === null ? [] : [device])];
    this.store.remove(names, id).catch(() => undefined);
  }

  private counters(login: string, from: string | undefined, device: KnownDevice | null): Counters {
    const [network, site] = [addressNetwork(from), addressSite(from)];
    return {
      // A network contains no spaces, so the input is unambiguous.
      addressAndLogin: this.name('address-and-login', `${network} ${login}`),
      address: this.name('address', network),
      login: this.name('login', login),
      siteAndLogin: this.name('address-and-login', `${site} ${login}`),
      device: device && this.name('device', device.id.toString('base64url')),
    };
  }

  /** Returns an HMAC. Redis must not contain logins, because people sometimes type a password as the login. */
  private name(kind: string, value: string): string {
    return `${kind}:${createHmac('sha256', this.key).update(`${kind}:${value}`).digest('base64url')}`;
  }
}

/**
 * Ignores every difference that PostgreSQL's `lower()` ignores in any locale. Otherwise two spellings of one account
 * would have separate counters, which would double the guesses.
 */
export function normalizeLogin(login: string): string {
  // Lower case comes first, because only ß (not ẞ) becomes SS. Upper case comes last, because it equates σ and ς.
  return login.trim().normalize('NFKD').toLowerCase().toUpperCase().normalize('NFKD').replace(/\p{M}/gu, '');
}
