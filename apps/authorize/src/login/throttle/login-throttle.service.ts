import { createHmac, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { KeyRing } from '#grants/key-ring.js';
import { addressNetwork, addressSite } from '#platform/http/client-address.js';
import { CLOCK, type Clock } from '../../authorize.configuration.js';
import type { KnownDevice } from './device-cookie.js';
import { type Counters, type RefusingCounter, ThrottleStore } from './throttle.store.js';

/** A login attempt that was counted and is allowed. */
export interface Attempt {
  readonly outcome: 'device' | 'unknown';
  readonly id: string;
  readonly counters: Counters;
}

export interface Throttled {
  readonly outcome: 'refused';
  readonly counter: RefusingCounter;
  /** Until the next attempt is allowed, rounded up. */
  readonly seconds: number;
}

/**
 * Slows down password guessing without locking an account (OWASP, "Slow Down Online Guessing Attacks with Device
 * Cookies"): failures count by address and by account, but separately on a device where the account logged in earlier.
 * Unknown logins count like known ones, so the throttle does not reveal which accounts exist.
 */
@Injectable()
export class LoginThrottle {
  private readonly key: Buffer;

  constructor(
    keys: KeyRing,
    private readonly store: ThrottleStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.key = keys.throttleKey;
  }

  /** Counts an attempt as failed before the password is verified; `succeeded` or `cancel` corrects that. */
  async count(
    login: string,
    address: string | undefined,
    device: KnownDevice | null,
    random: (size: number) => Buffer = randomBytes,
  ): Promise<Attempt | Throttled> {
    const counters = this.counters(normalizeLogin(login), address, device);
    const id = random(9).toString('base64url');
    const verdict = await this.store.count(counters, id, this.clock()).catch((error: unknown) => {
      this.removeLater(counters, id);
      throw error;
    });
    if (verdict.outcome !== 'refused') return { outcome: verdict.outcome, id, counters };
    return { outcome: 'refused', counter: verdict.counter, seconds: Math.ceil(verdict.wait / 1000) };
  }

  /** The password was right: removes the attempt, and the failures of this address at this account. */
  async succeeded({ outcome, id, counters }: Attempt): Promise<void> {
    const { addressAndLogin, address, login, siteAndLogin } = counters;
    // The failures of a known device stay: a thief of its cookie must not profit from the owner's login.
    if (outcome === 'device') return this.cancel({ outcome, id, counters });
    // All failures of this address; of its site, which many people may share, only this attempt.
    const others = [address, login, siteAndLogin].filter((counter) => counter !== addressAndLogin);
    await Promise.all([this.store.clear(addressAndLogin), this.store.remove(others, id)]);
  }

  /** No password was verified. */
  async cancel({ outcome, id, counters }: Attempt): Promise<void> {
    const { addressAndLogin, address, login, siteAndLogin, device } = counters;
    const taken = outcome === 'device' ? [device ?? ''] : [addressAndLogin, address, login, siteAndLogin];
    await this.store.remove(taken, id);
  }

  /**
   * An attempt may have been counted although Redis did not answer: a user who tries again while Redis hangs would have to
   * wait afterwards. The removal follows on the same connection; nothing waits for it.
   */
  private removeLater({ addressAndLogin, address, login, siteAndLogin, device }: Counters, id: string): void {
    const maybe = [addressAndLogin, address, login, siteAndLogin, ...(device === null ? [] : [device])];
    this.store.remove(maybe, id).catch(() => undefined);
  }

  private counters(login: string, from: string | undefined, device: KnownDevice | null): Counters {
    const [network, site] = [addressNetwork(from), addressSite(from)];
    return {
      // A network contains no space, so the input is unambiguous.
      addressAndLogin: this.name('address-and-login', `${network} ${login}`),
      address: this.name('address', network),
      login: this.name('login', login),
      siteAndLogin: this.name('address-and-login', `${site} ${login}`),
      device: device && this.name('device', device.id.toString('base64url')),
    };
  }

  /** Redis must hold neither logins nor addresses: people also type their passwords as user names. */
  private name(kind: string, value: string): string {
    return `${kind}:${createHmac('sha256', this.key).update(`${kind}:${value}`).digest('base64url')}`;
  }
}

/**
 * Maps every spelling of one account's login to the same string. PostgreSQL finds accounts by `lower()` in its own locale:
 * there `İ` may equal `i`, and if it differed here, every `i` in a name would double the guesses. So this distinguishes less
 * than any locale does: it ignores accents, compatibility forms and case. Two people whose names differ by an accent share a
 * counter of unknown devices, which hardly matters.
 */
export function normalizeLogin(login: string): string {
  // Lower case first: ẞ has no upper case, but ß has. Upper case last: it equates σ and ς.
  return login.trim().normalize('NFKD').toLowerCase().toUpperCase().normalize('NFKD').replace(/\p{M}/gu, '');
}
