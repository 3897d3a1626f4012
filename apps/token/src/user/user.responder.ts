import { Controller, Logger } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import type { UserRecord } from '#database/user/user-record.js';
import { SUBJECTS, type UserDisableReply, type UserUpsertReply } from '#introspection/contract.js';
import { UserChangeService } from './user-change.service.js';

/** Answers the product, which sends the changes of its users. */
@Controller()
export class UserResponder {
  private readonly logger = new Logger(UserResponder.name);

  constructor(private readonly changes: UserChangeService) {}

  @MessagePattern(SUBJECTS.userUpsert)
  async upsert(@Payload() message: UserRecord): Promise<UserUpsertReply> {
    return this.logged('user upserted', await this.changes.upsert(message));
  }

  @MessagePattern(SUBJECTS.userDisable)
  async disable(@Payload() message: UserRecord): Promise<UserDisableReply> {
    return this.logged('user disabled', await this.changes.disable(message));
  }

  /** The outcome and the user's id: nothing of the profile reaches the log. */
  private logged<Reply extends UserUpsertReply | UserDisableReply>(msg: string, reply: Reply): Reply {
    this.logger.log({ user_id: reply.user_id, status: reply.status, msg });
    return reply;
  }
}
