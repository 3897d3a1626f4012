import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { UserStore } from '#database/user/user.store.js';
import { type ProfileReply, type ProfileRequest, SUBJECTS } from '#introspection/contract.js';
import { profileOf } from './profile-of.js';

/** Answers `oauth.user.profile`: what a user's profile says. */
@Controller()
export class ProfileResponder {
  constructor(private readonly users: UserStore) {}

  @MessagePattern(SUBJECTS.profile)
  async profile(@Payload() { user_id: id }: ProfileRequest): Promise<ProfileReply> {
    const user = await this.users.find(id);
    return { user: user && profileOf(user) };
  }
}
