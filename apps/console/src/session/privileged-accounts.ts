import { Injectable } from '@nestjs/common';
import { refused } from '#operations/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import { type ClientView, isApiClient } from '#clients/operations/client.description.js';
import { ClientService } from '#clients/operations/client.service.js';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import { mayActAs } from '../role.js';
import type { Operator } from '../operator.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    admin_required: { readonly account: 'application' | 'user' };
  }
}

/**
 * Accounts that only an admin may disable, enable or log out. Otherwise the role `support` could lock out the admins, or
 * undo what an admin has done after a leak.
 */
@Injectable()
export class PrivilegedAccounts {
  constructor(
    private readonly clients: ClientService,
    private readonly operators: ConsoleOperatorStore,
  ) {}

  /** API clients, and the application by which operators log in, have the rights of operators. */
  mayChangeApplication({ role }: Operator, client: ClientView): boolean {
    return mayActAs(role, 'admin') || !(isApiClient(client) || this.clients.isConsole(client));
  }

  /** An operator acts on users with a lower role or none. */
  async mayChangeUser({ role }: Operator, id: number): Promise<boolean> {
    if (mayActAs(role, 'admin')) return true;
    const other = await this.operators.roleOf(id);
    return other === null || !mayActAs(other, role);
  }

  /** @throws AdministrationError unless the operator may disable and enable the application */
  async checkApplication(operator: Operator, id: string): Promise<void> {
    if (this.mayChangeApplication(operator, await this.clients.find(id))) return;
    throw refused('unsafe', problem('admin_required', [], { account: 'application' }));
  }

  /** @throws AdministrationError unless the operator may disable, enable and log out the user */
  async checkUser(operator: Operator, id: number): Promise<void> {
    if (await this.mayChangeUser(operator, id)) return;
    throw refused('unsafe', problem('admin_required', [], { account: 'user' }));
  }
}
