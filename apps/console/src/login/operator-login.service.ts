import { Injectable } from '@nestjs/common';
import { ConsoleOperatorService } from '#users/operations/operators/console-operator.service.js';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import type { FinishedLogin } from '#pages/openid-login.js';
import { ConsoleConfiguration } from '../console.configuration.js';
import { actorOf, type OperatorSession } from '../operator.js';
import { roleOfGroups } from '../role.js';

@Injectable()
export class OperatorLoginService {
  constructor(
    private readonly configuration: ConsoleConfiguration,
    private readonly operators: ConsoleOperatorStore,
    private readonly invitations: ConsoleOperatorService,
  ) {}

  async sessionOf({
    session,
    claims,
  }: FinishedLogin): Promise<{ readonly session: OperatorSession; readonly hasRole: boolean }> {
    const { CONSOLE_GROUPS_CLAIM: claim, roles } = this.configuration;
    if (claim !== '') {
      const role = roleOfGroups(roles, claims[claim]) ?? 'none';
      return { session: { ...session, role, generation: null }, hasRole: role !== 'none' };
    }
    await this.invitations.acceptInvitation(actorOf({ name: session.name }), session.subject);
    const access = await this.operators.accessOf(session.subject);
    const generation = access?.sessionGeneration ?? null;
    return { session: { ...session, role: null, generation }, hasRole: access !== null };
  }
}
