import { Injectable } from '@nestjs/common';
import type { ClientView } from '#administration/client/client.description.js';
import { ClientSecretService } from '#administration/client/client-secret.service.js';
import type { Operator } from '../operator.js';
import { PrivilegedAccounts } from '../session/privileged-accounts.js';
import type { Notices } from '../ui/components.js';
import type { Page } from '../ui/page.responder.js';
import { applicationPage } from './application.page.js';

@Injectable()
export class ApplicationPageService {
  constructor(
    private readonly secrets: ClientSecretService,
    private readonly privileged: PrivilegedAccounts,
  ) {}

  async show(operator: Operator, client: ClientView, changed: Notices = {}): Promise<Page> {
    const { auth_method: method, client_id: id } = client;
    const secrets = method === 'client_secret' ? (await this.secrets.list(id)).secrets : [];
    const mayEnable = this.privileged.mayEnableApplication(operator, client);
    return applicationPage({ operator, client, secrets, mayEnable, changed });
  }
}
