import { Injectable } from '@nestjs/common';
import type { ClientView } from '#clients/operations/client.description.js';
import { ClientSecretService } from '#clients/operations/client-secret.service.js';
import { ClientService } from '#clients/operations/client.service.js';
import { ClientHistoryService } from '#audit/operations/explain/client-history.service.js';
import type { Operator } from '../operator.js';
import { PrivilegedAccounts } from '../session/privileged-accounts.js';
import { type Notices } from '#pages/components.js';
import { unlessUnavailable } from '../ui/console-components.js';
import type { Page } from '#pages/page.responder.js';
import { applicationPage } from './application.page.js';

/** Start of the refusals on an application's page, as on the page that it links to. */
const REFUSALS_SINCE = '29d';

@Injectable()
export class ApplicationPageService {
  constructor(
    private readonly clients: ClientService,
    private readonly secrets: ClientSecretService,
    private readonly histories: ClientHistoryService,
    private readonly privileged: PrivilegedAccounts,
  ) {}

  async show(operator: Operator, client: ClientView, changed: Notices = {}): Promise<Page> {
    const { auth_method: method, client_id: id } = client;
    const [secrets, live, refused] = await Promise.all([
      method === 'client_secret' ? this.secrets.list(id).then((list) => list.secrets) : [],
      this.clients.countGrants(id),
      this.histories.read({ client: id, since: REFUSALS_SINCE }).catch(unlessUnavailable),
    ]);
    const mayChange = this.privileged.mayChangeApplication(operator, client);
    return applicationPage({ operator, client, secrets, live, refused, mayChange, changed });
  }
}
