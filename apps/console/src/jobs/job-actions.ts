import { Injectable } from '@nestjs/common';
import { ClientService } from '#clients/operations/client.service.js';
import { GrantService } from '#grants/operations/grant.service.js';
import type { Change } from '#operations/audit-trail.js';
import { UserService } from '#users/operations/user.service.js';
import type { Role } from '../role.js';
import { actorOf, type Operator } from '../operator.js';
import type { ListQuery, ListSection } from '../ui/list.page.js';
import { phrase } from '#pages/format.js';
import type { StepOutcome } from './job.store.js';

export const JOB_ROLE: Role = 'support';

interface Action {
  readonly question: (count: number) => string;
  readonly effect: string;
  readonly title: string;
  readonly button: string;
  readonly section: ListSection;
}

/** Actions of jobs. An item is a client id or a user id; for grants, `user=…`, `client=…` or both. */
export const ACTIONS = {
  'disable-applications': {
    question: (count) =>
      phrase('Disable {count, plural, one {one application} other {# applications}}?', { count }),
    effect: 'They cannot get tokens until they are enabled.',
    title: 'Disable applications',
    button: 'Disable',
    section: '/applications',
  },
  'enable-applications': {
    question: (count) =>
      phrase('Enable {count, plural, one {one application} other {# applications}}?', { count }),
    effect: 'They can get tokens again.',
    title: 'Enable applications',
    button: 'Enable',
    section: '/applications',
  },
  'disable-users': {
    question: (count) => phrase('Disable {count, plural, one {one user} other {# users}}?', { count }),
    effect: 'All their sessions and grants end. They cannot log in until they are enabled.',
    title: 'Disable users',
    button: 'Disable',
    section: '/users',
  },
  'log-out-users': {
    question: (count) => phrase('Log out {count, plural, one {one user} other {# users}}?', { count }),
    effect: 'All their sessions end. Applications keep their access.',
    title: 'Log out users',
    button: 'Log out',
    section: '/users',
  },
  'revoke-grants': {
    question: (count) => phrase('Revoke {count, plural, one {one grant} other {# grants}}?', { count }),
    effect: 'Access ends immediately. Users can allow it again.',
    title: 'Revoke grants',
    button: 'Revoke',
    section: '/users',
  },
} as const satisfies Record<string, Action>;

export type ActionName = keyof typeof ACTIONS;

export function isAction(name: string): name is ActionName {
  return Object.hasOwn(ACTIONS, name);
}

/** Executes the steps of jobs. Every step is idempotent. */
@Injectable()
export class JobActions {
  constructor(
    private readonly clients: ClientService,
    private readonly users: UserService,
    private readonly grants: GrantService,
  ) {}

  /** Returns the names of the items; an item without a record is missing. */
  async names(action: ActionName, items: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (action === 'revoke-grants') return this.ownerNames(items);
    if (ACTIONS[action].section === '/applications') return this.clients.names(items);
    const names = await this.users.names(items.map(Number));
    return new Map([...names].map(([id, name]) => [String(id), name]));
  }

  private async ownerNames(items: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const owners = items.map(async (item) => {
      const { user, client } = selectionOf(item);
      const records = await Promise.all<{ readonly name: string }>([
        ...(user === undefined ? [] : [this.users.find(user)]),
        ...(client === undefined ? [] : [this.clients.find(client)]),
      ]);
      return [item, records.map(({ name }) => name).join(', ')] as const;
    });
    return new Map((await Promise.all(owners)).filter(([, name]) => name !== ''));
  }

  /** Returns the items that match the filter of a list, at most `MAX_COUNT` + 1. */
  matching(action: Exclude<ActionName, 'revoke-grants'>, filter: ListQuery): Promise<string[]> {
    return ACTIONS[action].section === '/users' ? this.users.ids(filter) : this.clients.ids(filter);
  }

  async steps(action: ActionName, items: readonly string[]): Promise<number> {
    if (action !== 'revoke-grants') return items.length;
    const counts = await Promise.all(items.map((item) => this.grants.countLive(selectionOf(item))));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Number of live grants that end or have no effect. */
  async affectedGrants(action: ActionName, items: readonly string[]): Promise<number> {
    if (action === 'disable-users') return this.grants.countLiveOf({ userIds: items.map(Number) });
    return action === 'disable-applications' ? this.grants.countLiveOf({ clientIds: items }) : 0;
  }

  async step(action: ActionName, operator: Operator, item: string): Promise<Omit<StepOutcome, 'failure'>> {
    if (action === 'revoke-grants') {
      const { result, announced } = await this.grants.revokeSome(actorOf(operator), selectionOf(item));
      return { done: result.revoked_grants, more: result.more, warnings: await announced };
    }
    const { announced } = await this.change(action, operator, item);
    return { done: 1, more: false, warnings: await announced };
  }

  private async change(
    action: Exclude<ActionName, 'revoke-grants'>,
    operator: Operator,
    item: string,
  ): Promise<Change<unknown>> {
    const actor = actorOf(operator);
    if (ACTIONS[action].section === '/users') {
      return action === 'disable-users'
        ? this.users.disable(actor, `id:${item}`)
        : this.users.logOut(actor, `id:${item}`);
    }
    return action === 'disable-applications'
      ? this.clients.disable(actor, item)
      : this.clients.enable(actor, item);
  }
}

function selectionOf(item: string): { readonly user?: string; readonly client?: string } {
  return Object.fromEntries(new URLSearchParams(item));
}
