import { Injectable } from '@nestjs/common';
import { type AdministrationError, refusal } from '#operations/administration.error.js';
import { type ClientView, isApiClient } from '#clients/operations/client.description.js';
import { ClientService } from '#clients/operations/client.service.js';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import { mayActAs } from '../role.js';
import type { Operator } from '../operator.js';

/**
 * Accounts that may have more rights than the role `support`. Only an admin may enable them, because an admin may have
 * disabled them after a leak.
 */
@Injectable()
export class PrivilegedAccounts {
  constructor(
    private readonly clients: ClientService,
    private readonly operators: ConsoleOperatorStore,
  ) {}

  mayEnableApplication({ role }: Operator, client: ClientView): boolean {
    return mayActAs(role, 'admin') || !isApiClient(client);
  }

  async mayEnableUser({ role }: Operator, id: number): Promise<boolean> {
    return mayActAs(role, 'admin') || !(await this.operators.hasRole(id));
  }

  /** @throws AdministrationError unless the operator may enable the application */
  async checkApplication(operator: Operator, id: string): Promise<void> {
    if (!this.mayEnableApplication(operator, await this.clients.find(id)))
      throw adminRequired('an API client');
  }

  /** @throws AdministrationError unless the operator may enable the user */
  async checkUser(operator: Operator, id: number): Promise<void> {
    if (!(await this.mayEnableUser(operator, id))) throw adminRequired('a user with a role in the console');
  }
}

function adminRequired(what: string): AdministrationError {
  return refusal('unsafe', 'admin_required', `only an admin may enable ${what}`);
}
