import { Injectable, Logger } from '@nestjs/common';
import { hashPassword, needsRehash, verifyPassword } from '#database/user/password.js';
import { type Credentials, UserStore } from '#database/user/user.store.js';
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
    const matches = await this.gate.run(() => verifyPassword(password, passwordHash, others), known);
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
