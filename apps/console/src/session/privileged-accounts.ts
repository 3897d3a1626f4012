import { Injectable } from '@nestjs/common';
import { type ClientView, isApiClient } from '#clients/operations/client.description.js';
import { ClientService } from '#clients/operations/client.service.js';
import { privilegedAccount } from '#users/operators/console-role.js';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import { mayChangeRole } from '#users/operators/console-role.js';
import { mayActAs } from '../role.js';
import { actorOf, type Operator } from '../operator.js';

/** Says whether a page offers to change an account. The operations decide. */
@Injectable()
export class PrivilegedAccounts {
  constructor(
    private readonly clients: ClientService,
    private readonly operators: ConsoleOperatorStore,
  ) {}

  mayChangeApplication({ role }: Operator, client: ClientView): boolean {
    return mayActAs(role, 'admin') || !(isApiClient(client) || this.clients.isConsole(client));
  }

  async mayChangeUser({ role }: Operator, id: number): Promise<boolean> {
    return mayChangeRole(role, await this.operators.roleOf(id));
  }

  /** @throws AdministrationError unless the operator may disable and enable the application */
  checkApplication(operator: Operator, client: ClientView): void {
    if (!this.mayChangeApplication(operator, client))
      throw privilegedAccount(actorOf(operator), 'application');
  }

  /** @throws AdministrationError unless the operator may disable, enable and log out the user */
  async checkUser(operator: Operator, id: number): Promise<void> {
    if (await this.mayChangeUser(operator, id)) return;
    throw privilegedAccount(actorOf(operator), 'user');
  }
}
