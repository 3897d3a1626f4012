import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ClientMemberStore } from '#clients/owners/client-member.store.js';
import { asDeveloper } from '#database/developer-data-source.js';
import { handleOf } from '#grants/token-codec.js';
import { Accounts } from '#pages/account.guard.js';
import type { OpenSession } from '#pages/session.store.js';
import type { Developer, DeveloperRequest, DeveloperSession } from '../developer.js';

@Injectable()
export class DeveloperAccounts extends Accounts {
  constructor(private readonly members: ClientMemberStore) {
    super();
  }

  /** @returns null if the user has disconnected the portal, or is disabled */
  async recognize(
    context: ExecutionContext,
    session: OpenSession<DeveloperSession>,
  ): Promise<Developer | null> {
    const request = context.switchToHttp().getRequest<DeveloperRequest>();
    const { name, browser, formKey, formIdKey, authTime, token, locale } = session;
    request.locale = locale;
    const handle = handleOf(token);
    const userId = handle && (await asDeveloper(handle, () => this.members.currentDeveloper()));
    if (handle === null || userId === null) return null;
    const developer = { name, browser, formKey, formIdKey, authTime, userId, handle };
    Object.assign(request, { developer, account: developer });
    return developer;
  }
}
