import { Inject, Injectable } from '@nestjs/common';
import { UserStore } from '#users/user.store.js';
import {
  OPERATOR_SUBJECTS,
  type UserSessionsReply,
  type UserSessionsRequest,
} from '#messaging/request-sender.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { OperatorResponder } from '../operator.responder.js';
import { isCurrent } from './session.service.js';
import { UserSessionStore } from './user-session.store.js';

@Injectable()
export class SessionListService {
  constructor(
    private readonly sessions: UserSessionStore,
    private readonly users: UserStore,
    private readonly configuration: AuthorizeConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
    requests: OperatorResponder,
  ) {
    requests.register(OPERATOR_SUBJECTS.userSessions, (request) =>
      this.list(request as unknown as UserSessionsRequest),
    );
  }

  private async list({ user_id: userId }: UserSessionsRequest): Promise<UserSessionsReply> {
    const user = Number.isInteger(userId) ? await this.users.find(userId) : null;
    if (!user) return { sessions: [] };
    const now = this.clock();
    const oldest = now - this.configuration.SESSION_LIFETIME * 1000;
    const listed = await this.sessions.list(userId);
    const valid = await Promise.all(
      listed.map(async ({ session, idleMs }) => {
        const { authTime, external } = session;
        const isEnded = await this.sessions.isEnded(external?.sid);
        if (isEnded || authTime < oldest || !isCurrent(session, user)) return [];
        return {
          started_at: new Date(authTime).toISOString(),
          last_used_at: new Date(now - idleMs).toISOString(),
          at_provider: external !== undefined,
        };
      }),
    );
    return { sessions: valid.flat() };
  }
}
