import { Injectable, Logger } from '@nestjs/common';
import { kindOf } from '#users/password-hash.js';
import { hashPassword, needsRehash, verifyPassword } from '#users/password.js';
import { type Credentials, UserStore } from '#users/user.store.js';
import { messageOf } from '#platform/message-of.js';
import { PasswordGate } from './password-gate.js';

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
