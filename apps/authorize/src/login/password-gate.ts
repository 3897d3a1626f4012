import { OAuthError } from '#oauth/oauth-error.js';

/**
 * Limits the concurrent password verifications of one process. Each takes 19 MiB and a thread of Node's pool; without a
 * limit a flood of logins would exhaust both. A bounded queue waits, the rest gets 503. Some places in the queue are
 * reserved for known devices, so that guessing does not lock out the owners.
 */
export class PasswordGate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly atOnce = 4,
    private readonly queue = 64,
    private readonly reserved = 16,
  ) {}

  /**
   * @param known whether the account logged in on this device earlier
   * @throws OAuthError temporarily_unavailable (503) if the queue is full
   */
  async run<T>(verify: () => Promise<T>, known = false): Promise<T> {
    if (this.running >= this.atOnce) {
      if (this.waiting.length >= (known ? this.queue : this.queue - this.reserved))
        throw OAuthError.unavailable({ detail: { check: 'password_gate', waiting: this.waiting.length } });
      // A finished verification passes its place on, so `running` stays the same.
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else {
      this.running += 1;
    }
    try {
      return await verify();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
