import { OAuthError } from '#oauth/oauth-error.js';

/**
 * Limits concurrent verifications and new hashes, because each takes 19 MiB (an imported hash up to 64 MiB) and a
 * thread of the libuv pool. Further tasks wait in a bounded queue, and fail with 503 if the queue is full. Part of the
 * queue is reserved for known devices and new hashes, so that password guessing does not lock out account owners.
 */
export class PasswordGate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly concurrency = 4,
    private readonly queue = 64,
    private readonly reserved = 16,
  ) {}

  /** @throws OAuthError temporarily_unavailable (503) if the queue is full */
  async run<T>(verify: () => Promise<T>, known = false): Promise<T> {
    if (this.running >= this.concurrency) {
      if (this.waiting.length >= (known ? this.queue : this.queue - this.reserved))
        throw OAuthError.unavailable('password_queue_full', { detail: { waiting: this.waiting.length } });
      // A finished verification hands over its slot, so `running` does not change.
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
