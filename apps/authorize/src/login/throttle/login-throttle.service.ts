import { createHmac, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { KeyRing } from '#grants/key-ring.js';
import { AuthorizeConfiguration } from '../../authorize.configuration.js';
import { CLOCK, type Clock } from '../../clock.js';
import { addressNetwork, addressSite } from '#platform/http/address-network.js';
import type { KnownDevice } from './device-cookie.js';
import { oneSpelling } from './one-spelling.js';
import { type Counters, type RefusingCounter, ThrottleStore } from './throttle.store.js';

/** A try that was counted, and may be made. */
export interface Attempt {
  readonly outcome: 'device' | 'unknown';
  readonly id: string;
  readonly counters: Counters;
}

export interface Throttled {
  readonly outcome: 'refused';
  readonly counter: RefusingCounter;
  /** Until the next try is let through, rounded up. */
  readonly seconds: number;
}

/**
 * Slows down who guesses passwords and locks nobody out (OWASP, "Slow Down Online Guessing Attacks with Device
 * Cookies"): failures count by address and by account, but not for a device that the account logged in on before.
 * A login that is nobody's counts as any other, so that the throttle does not tell whose it is.
 */
@Injectable()
export class LoginThrottle {
  private readonly key: Buffer;

  constructor(
    { TOKEN_KEYS }: AuthorizeConfiguration,
    private readonly store: ThrottleStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.key = KeyRing.parse(TOKEN_KEYS).throttleKey;
  }

  /** Counts a try as failed before the password is looked at; `settle` or `giveBack` takes that back. */
  async take(
    login: string,
    address: string | undefined,
    device: KnownDevice | null,
    random: (size: number) => Buffer = randomBytes,
  ): Promise<Attempt | Throttled> {
    const counters = this.counters(oneSpelling(login), address, device);
    const id = random(9).toString('base64url');
    const verdict = await this.store.take(counters, id, this.clock()).catch((error: unknown) => {
      this.forget(counters, id);
      throw error;
    });
    if (verdict.outcome !== 'refused') return { outcome: verdict.outcome, id, counters };
    return { outcome: 'refused', counter: verdict.counter, seconds: Math.ceil(verdict.wait / 1000) };
  }

  /** The password was right: nothing is counted, and what this address had mistyped for the account is forgotten. */
  async settle({ outcome, id, counters }: Attempt): Promise<void> {
    const { addressAndLogin, address, login, siteAndLogin } = counters;
    // A known device's failures stay: whoever stole its cookie must not gain by its owner's login.
    if (outcome === 'device') return this.giveBack({ outcome, id, counters });
    // What this address had mistyped; of its site, which may be many people's, only this try.
    const others = [address, login, siteAndLogin].filter((counter) => counter !== addressAndLogin);
    await Promise.all([this.store.clear(addressAndLogin), this.store.giveBack(others, id)]);
  }

  /** No password was looked at. */
  async giveBack({ outcome, id, counters }: Attempt): Promise<void> {
    const { addressAndLogin, address, login, siteAndLogin, device } = counters;
    const taken = outcome === 'device' ? [device ?? ''] : [addressAndLogin, address, login, siteAndLogin];
    await this.store.giveBack(taken, id);
  }

  /**
   * A try whose answer was lost may be counted all the same, and no password will be looked at: who tries again and
   * again while Redis hangs would have to wait afterwards. Sent behind it, and for nobody to wait for.
   */
  private forget({ addressAndLogin, address, login, siteAndLogin, device }: Counters, id: string): void {
    const maybe = [addressAndLogin, address, login, siteAndLogin, ...(device === null ? [] : [device])];
    this.store.giveBack(maybe, id).catch(() => undefined);
  }

  private counters(login: string, from: string | undefined, device: KnownDevice | null): Counters {
    const [network, site] = [addressNetwork(from), addressSite(from)];
    return {
      // A network has no blank in it: what is hashed has one reading.
      addressAndLogin: this.name('address-and-login', `${network} ${login}`),
      address: this.name('address', network),
      login: this.name('login', login),
      siteAndLogin: this.name('address-and-login', `${site} ${login}`),
      device: device && this.name('device', device.id.toString('base64url')),
    };
  }

  /** Who reads Redis learns neither who logs in nor from where: people type their passwords as user names, too. */
  private name(kind: string, value: string): string {
    return `${kind}:${createHmac('sha256', this.key).update(`${kind}:${value}`).digest('base64url')}`;
  }
}
