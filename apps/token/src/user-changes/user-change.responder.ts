import { Controller, Logger } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import type { UserRecord } from '#users/user-record.js';
import {
  SUBJECTS,
  type UserDeleteReply,
  type UserDisableReply,
  type UserUpsertReply,
} from '#messaging/contract.js';
import { UserChangeService } from './user-change.service.js';

@Controller()
export class UserChangeResponder {
  private readonly logger = new Logger(UserChangeResponder.name);

  constructor(private readonly changes: UserChangeService) {}

  @MessagePattern(SUBJECTS.userUpsert)
  async upsert(@Payload() message: UserRecord): Promise<UserUpsertReply> {
    return this.logged('user upserted', await this.changes.upsert(message));
  }

  @MessagePattern(SUBJECTS.userDisable)
  async disable(@Payload() message: UserRecord): Promise<UserDisableReply> {
    return this.logged('user disabled', await this.changes.disable(message));
  }

  @MessagePattern(SUBJECTS.userDelete)
  async delete(@Payload() message: UserRecord): Promise<UserDeleteReply> {
    return this.logged('user deleted', await this.changes.delete(message));
  }

  /** Logs the outcome, but no part of the profile. */
  private logged<Reply extends UserUpsertReply | UserDisableReply | UserDeleteReply>(
    msg: string,
    reply: Reply,
  ): Reply {
    const { user_id, status } = reply;
    this.logger.log({ user_id, status, msg });
    return reply;
  }
}
