import { OAuthError } from '#oauth/oauth-error.js';

/**
 * Bounds how many password verifications one process does at once. Each takes 19 MiB and a thread of Node's pool;
 * without a bound a flood of logins would take all of both. A bounded number waits, the rest is told to come back; some
 * of the places are kept for known devices, so that who guesses does not keep the owners out.
 */
export class PasswordGate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly atOnce = 4,
    private readonly queue = 64,
    private readonly kept = 16,
  ) {}

  /**
   * @param known whether it is a device on which the account logged in before
   * @throws OAuthError temporarily_unavailable (503) when as many are waiting as may
   */
  async run<T>(verify: () => Promise<T>, known = false): Promise<T> {
    if (this.running >= this.atOnce) {
      if (this.waiting.length >= (known ? this.queue : this.queue - this.kept))
        throw OAuthError.unavailable({ detail: { check: 'password_gate', waiting: this.waiting.length } });
      // Who leaves hands its place on, so the number of running ones stays.
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
