import { Injectable, Logger } from '@nestjs/common';
import { OAuthError } from '#oauth/oauth-error.js';
import { kindOf } from '#users/password-hash.js';
import { hashPassword, needsRehash, verifyPassword } from '#users/password.js';
import { type Credentials, UserStore } from '#users/user.store.js';
import { messageOf } from '#platform/errors.js';

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

@Injectable()
export class PasswordService {
  private readonly logger = new Logger(PasswordService.name);

  constructor(
    private readonly users: UserStore,
    private readonly gate: PasswordGate,
  ) {}

  /** @throws OAuthError temporarily_unavailable (503) if too many passwords are being verified */
  async verify(
    password: string,
    { user, passwordHash, others }: Credentials,
    known: boolean,
  ): Promise<boolean> {
    const hashes = others.map((other) => other.passwordHash);
    const onError = (hash: string, error: unknown): void => {
      const userId = others.find((other) => other.passwordHash === hash)?.userId ?? user?.id;
      // Logs only the code, because the message of a bcrypt error contains the hash.
      const reason = (error as NodeJS.ErrnoException).code;
      const msg = 'could not verify the password hash of this user';
      this.logger.error({ user_id: userId, kind: kindOf(hash), reason, msg });
    };
    const verifies = () => verifyPassword(password, passwordHash, hashes, onError);
    const matches = await this.gate.run(verifies, known);
    if (!matches || user === null) return false;
    if (passwordHash !== null && !user.disabled && needsRehash(password, passwordHash))
      await this.rehash(user.id, password, passwordHash);
    return true;
  }

  /** Does nothing if the password was changed concurrently. After a failure, the next login retries. */
  private async rehash(userId: number, password: string, verified: string): Promise<void> {
    try {
      const replacement = await this.gate.run(() => hashPassword(password), true);
      await this.users.replacePasswordHash(userId, verified, replacement);
    } catch (error) {
      // Logs only the message, because the error of a failed statement contains its parameters.
      const reason = messageOf(error);
      this.logger.warn({ user_id: userId, reason, msg: 'could not replace the password hash' });
    }
  }
}
