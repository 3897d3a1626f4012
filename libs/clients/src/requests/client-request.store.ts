import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In, IsNull, Not, type Repository } from 'typeorm';
import { refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import { ClientEntity } from '../client.entity.js';
import type { ClientWithSecrets } from '../client.js';
import {
  type ChangedRegistration,
  type ClientRegistration,
  ClientRegistrationStore,
  type RegistrationUpdate,
} from '../client-registration.store.js';
import { ClientStore, type NewClient } from '../client.store.js';
import { lockClient, lockExisting, recordOperator } from '../client.statements.js';
import { ClientOwnerEntity } from '../owners/client-owner.entity.js';
import { limitReached, lockUserLimits, OWNER_LIMITS } from '../owners/owner-limits.statements.js';
import {
  ClientRequestEntity,
  ClientRequestMessageEntity,
  type RequestStatus,
} from './client-request.entity.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    request_unknown: { readonly id: string };
    /** The status does not permit the step. */
    request_not_open: { readonly id: string; readonly status: RequestStatus };
    request_outdated: { readonly id: string };
    /** Another request of the application is undecided. */
    request_undecided: { readonly clientId: string };
  }
}

const OPEN = ['submitted', 'question'] as const satisfies readonly RequestStatus[];
const UNDECIDED = ['draft', ...OPEN] as const satisfies readonly RequestStatus[];
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

export type ChangeOfClient = Parameters<ClientRegistrationStore['update']>[1];
type ExistingClient = Parameters<ChangeOfClient>[1];

export interface Message {
  readonly name: string;
  readonly text: string;
}

/** Identifies the request as the caller has read it. */
export interface ExpectedRequest {
  readonly id: string;
  readonly version: number;
}

export interface QueuedRequest {
  readonly id: string;
  readonly version: number;
  readonly kind: ClientRequestEntity['kind'];
  readonly status: RequestStatus;
  readonly clientId: string;
  readonly name: string;
  readonly submittedAt: Date;
}

export interface Queue {
  /** Oldest first. */
  readonly requests: readonly QueuedRequest[];
  readonly count: number;
}

/** Request in a list of its owner. */
export type ListedRequest = Pick<ClientRequestEntity, 'id' | 'version' | 'kind' | 'status' | 'createdAt'> & {
  /** Requested name of the application; null if the request has none. */
  readonly name: string | null;
};

const LISTED = 100;
const QUEUE_PAGE = 100;

/**
 * Requests of owners. Each step locks the client, or the user of a draft without one, then the request, so that only one
 * of two concurrent steps succeeds.
 */
@Injectable()
export class ClientRequestStore {
  private readonly requests: Repository<ClientRequestEntity>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly clients: ClientStore,
    private readonly registrations: ClientRegistrationStore,
  ) {
    this.requests = dataSource.getRepository(ClientRequestEntity);
  }

  /** Returns the undecided requests of the user and of the user's applications, newest first. */
  undecided(userId: number): Promise<ListedRequest[]> {
    return this.listed(
      `status = ANY ($1) AND (user_id = $2 OR client_id IN (SELECT client_id FROM client_owners WHERE user_id = $2))`,
      [UNDECIDED, userId],
    );
  }

  /** Returns the newest requests of an application. The caller has found the application. */
  ofClient(clientId: string): Promise<ListedRequest[]> {
    return this.listed('client_id = $1', [clientId]);
  }

  private listed(condition: string, values: readonly unknown[]): Promise<ListedRequest[]> {
    return this.dataSource.query<ListedRequest[]>(
      `SELECT id, version, kind, status, content ->> 'name' AS name, created_at AS "createdAt" FROM client_requests
       WHERE ${condition} ORDER BY created_at DESC, id DESC LIMIT ${LISTED}`,
      [...values],
    );
  }

  /** Returns the registration of an application that was submitted last. The caller has found the application. */
  lastRegistration(clientId: string): Promise<Pick<ClientRequestEntity, 'id' | 'status'> | null> {
    return this.requests.findOne({
      select: { id: true, status: true },
      where: { clientId, kind: 'registration', submittedAt: Not(IsNull()) },
      order: { submittedAt: 'DESC' },
    });
  }

  /** @param userId undefined for operators, who cannot see drafts */
  async find(id: string, userId?: number): Promise<ClientRequestEntity | null> {
    const request = UUID.test(id) ? await this.requests.findOneBy({ id }) : null;
    return request && (await this.isVisible(this.dataSource.manager, request, userId)) ? request : null;
  }

  /** Returns the messages, oldest first. The caller has found the request. */
  messages(requestId: string): Promise<ClientRequestMessageEntity[]> {
    return this.dataSource
      .getRepository(ClientRequestMessageEntity)
      .find({ where: { requestId }, order: { id: 'ASC' } });
  }

  async queue(): Promise<Queue> {
    const requests = await this.dataSource.query<QueuedRequest[]>(
      `SELECT r.id, r.version, r.kind, r.status, r.client_id AS "clientId", coalesce(r.content ->> 'name', c.name) AS name,
         r.submitted_at AS "submittedAt"
       FROM client_requests r JOIN clients c USING (client_id) WHERE r.status IN ('submitted', 'question')
       ORDER BY r.submitted_at, r.id LIMIT ${QUEUE_PAGE}`,
    );
    return { requests, count: await this.requests.countBy({ status: In(OPEN) }) };
  }

  /** @param clientId application in testing whose registration was rejected; null for a new one @throws AdministrationError */
  async createDraft(
    userId: number,
    content: object,
    clientId: string | null = null,
  ): Promise<ClientRequestEntity> {
    return this.dataSource.transaction(async (manager) => {
      if (clientId !== null) {
        const client = await lockExisting(manager, clientId, { owner: userId });
        if (client?.stage !== 'testing')
          throw refused('conflict', problem('client_not_in_testing', [], { clientId }));
      }
      await this.checkLimit(manager, userId);
      return this.insert(manager, { userId, clientId, kind: 'registration', status: 'draft', content });
    });
  }

  async saveDraft(userId: number, expected: ExpectedRequest, content: object): Promise<ClientRequestEntity> {
    return this.step(expected, ['draft'], { userId }, async (manager, { id }) => {
      await manager.update(ClientRequestEntity, { id }, { content });
    });
  }

  async deleteDraft(userId: number, expected: ExpectedRequest): Promise<void> {
    await this.step(expected, ['draft'], { userId }, async (manager, { id }) => {
      await manager.delete(ClientRequestEntity, { id });
    });
  }

  /**
   * Submits a draft: creates the application in testing, or changes the one whose registration was rejected.
   * @returns the new client, or the change of the existing one
   */
  async submit(
    userId: number,
    expected: ExpectedRequest,
    client: NewClient,
    change: ChangeOfClient,
  ): Promise<{ readonly created: ClientWithSecrets | null; readonly update: RegistrationUpdate | null }> {
    let created: ClientWithSecrets | null = null;
    let update: RegistrationUpdate | null = null;
    await this.step(expected, ['draft'], { userId }, async (manager, { id, clientId }) => {
      if (clientId === null) {
        await lockUserLimits(manager, userId);
        const owners = await manager.findBy(ClientOwnerEntity, { userId });
        const owned = await manager.countBy(ClientEntity, {
          clientId: In(owners.map((owner) => owner.clientId)),
          stage: 'testing',
        });
        if (owned >= OWNER_LIMITS.applications) throw limitReached('applications');
        created = await this.clients.create({ ...client, stage: 'testing' }, manager);
      } else {
        if (!(await manager.existsBy(ClientEntity, { clientId, stage: 'testing' })))
          throw refused('conflict', problem('client_not_in_testing', [], { clientId }));
        await this.checkUndecided(manager, clientId);
        update = await this.registrations.update(clientId, change, { owner: userId }, manager);
      }
      await manager.update(
        ClientRequestEntity,
        { id },
        { clientId: created?.clientId ?? clientId, status: 'submitted', submittedAt: () => 'now()' },
      );
    });
    return { created, update };
  }

  /**
   * Answers a question, or revises a request.
   * @param revised new content, with the change of an application in testing
   */
  async answer(
    userId: number,
    expected: ExpectedRequest,
    message: Message | null,
    revised?: { readonly content: object; readonly change?: ChangeOfClient },
  ): Promise<{ readonly request: ClientRequestEntity; readonly update: RegistrationUpdate | null }> {
    let update: RegistrationUpdate | null = null;
    const request = await this.step(expected, OPEN, { userId }, async (manager, { id, clientId, kind }) => {
      if (revised?.change && clientId !== null && kind === 'registration')
        update = await this.registrations.update(clientId, revised.change, { owner: userId }, manager);
      await manager.update(
        ClientRequestEntity,
        { id },
        { status: 'submitted', ...(revised && { content: revised.content }) },
      );
      if (message) await this.addMessage(manager, id, 'owner', message);
    });
    return { request, update };
  }

  /** Withdraws a change. A registration is withdrawn by deleting the application. */
  async withdraw(userId: number, expected: ExpectedRequest): Promise<ClientRequestEntity> {
    return this.step(expected, OPEN, { userId }, async (manager, { id }) => {
      await manager.update(ClientRequestEntity, { id }, { status: 'withdrawn' });
    });
  }

  /**
   * Changes a live application, and requests the changes that need a review.
   * @param split returns the immediate change, and the content of a request or null
   */
  async change(
    userId: number,
    clientId: string,
    split: (
      current: ClientRegistration,
      existing: ExistingClient,
    ) => { readonly now: ChangedRegistration; readonly proposed: object | null },
  ): Promise<{ readonly update: RegistrationUpdate; readonly request: ClientRequestEntity | null }> {
    return this.dataSource.transaction(async (manager) => {
      const { stage } = await lockClient(manager, clientId, { owner: userId });
      if (stage === 'testing') throw refused('conflict', problem('request_undecided', [], { clientId }));
      let proposed: object | null = null;
      const update = await this.registrations.update(
        clientId,
        (current, existing) => {
          const { now, ...rest } = split(current, existing);
          ({ proposed } = rest);
          return now;
        },
        { owner: userId },
        manager,
      );
      if (proposed === null) return { update, request: null };
      await this.checkUndecided(manager, clientId);
      await this.checkLimit(manager, userId);
      const request = await this.insert(manager, {
        userId,
        clientId,
        kind: 'change',
        status: 'submitted',
        content: proposed,
      });
      return { update, request };
    });
  }

  /** Asks the owners a question for an operator. */
  async ask(expected: ExpectedRequest, message: Message): Promise<ClientRequestEntity> {
    return this.step(expected, OPEN, {}, async (manager, { id }) => {
      await manager.update(ClientRequestEntity, { id }, { status: 'question' });
      await this.addMessage(manager, id, 'operator', message);
    });
  }

  /** Makes an application live, or applies a change, in one transaction with the decision. */
  async approve(
    expected: ExpectedRequest,
    operator: string,
    message: Message | null,
    change: ChangeOfClient,
  ): Promise<{ readonly request: ClientRequestEntity; readonly update: RegistrationUpdate }> {
    let update: RegistrationUpdate | null = null;
    const request = await this.step(expected, OPEN, { operator }, async (manager, { id, clientId, kind }) => {
      if (clientId === null) return;
      if (kind === 'registration')
        await manager.update(ClientEntity, { clientId }, { stage: 'live', disabledAt: null });
      update = await this.registrations.update(clientId, change, {}, manager);
      await this.decide(manager, id, 'approved', message);
    });
    if (!update) throw refused('unknown', problem('request_unknown', [], { id: expected.id }));
    return { request, update };
  }

  /** Rejects a request. Disables an application in testing. */
  async reject(expected: ExpectedRequest, operator: string, message: Message): Promise<ClientRequestEntity> {
    return this.step(expected, OPEN, { operator }, async (manager, { id, clientId, kind }) => {
      if (kind === 'registration' && clientId !== null)
        await manager.update(ClientEntity, { clientId }, { disabledAt: () => 'now()' });
      await this.decide(manager, id, 'rejected', message);
    });
  }

  private async decide(
    manager: EntityManager,
    id: string,
    status: 'approved' | 'rejected',
    message: Message | null,
  ): Promise<void> {
    await manager.update(ClientRequestEntity, { id }, { status, decidedAt: () => 'now()' });
    if (message) await this.addMessage(manager, id, 'operator', message);
  }

  private async addMessage(
    manager: EntityManager,
    requestId: string,
    author: 'owner' | 'operator',
    message: Message,
  ): Promise<void> {
    await manager.insert(ClientRequestMessageEntity, { requestId, author, ...message });
  }

  private async insert(
    manager: EntityManager,
    values: Pick<ClientRequestEntity, 'userId' | 'clientId' | 'kind' | 'status' | 'content'>,
  ): Promise<ClientRequestEntity> {
    const { identifiers } = await manager
      .createQueryBuilder()
      .insert()
      .into(ClientRequestEntity)
      .values({ ...values, ...(values.status === 'submitted' && { submittedAt: () => 'now()' }) })
      .execute();
    return manager.findOneByOrFail(ClientRequestEntity, { id: (identifiers[0] as { id: string }).id });
  }

  /** Locks, checks and changes a request. @throws AdministrationError @returns the changed request */
  private async step(
    { id, version }: ExpectedRequest,
    statuses: readonly RequestStatus[],
    by: { readonly userId?: number; readonly operator?: string },
    work: (manager: EntityManager, request: ClientRequestEntity) => Promise<void>,
  ): Promise<ClientRequestEntity> {
    const unknown = () => refused('unknown', problem('request_unknown', [], { id }));
    const read = await this.find(id, by.userId);
    if (!read) throw unknown();
    return this.dataSource.transaction(async (manager) => {
      if (read.clientId === null) await manager.query('SELECT lock_developer()');
      else if (!(await lockExisting(manager, read.clientId))) throw unknown();
      if (by.operator !== undefined) await recordOperator(manager, by.operator);
      const locked = await manager.findOne(ClientRequestEntity, {
        where: { id },
        lock: { mode: 'for_no_key_update' },
      });
      // The policies of the portal, evaluated before the wait, hide the row of a concurrently registered client.
      const request = locked ?? (await manager.findOneBy(ClientRequestEntity, { id }));
      if (!request || !(await this.isVisible(manager, request, by.userId))) throw unknown();
      const { status } = request;
      if (!statuses.includes(status))
        throw refused('conflict', problem('request_not_open', [], { id, status }));
      if (request.version !== version || request.clientId !== read.clientId)
        throw refused('outdated', problem('request_outdated', [], { id }));
      await work(manager, request);
      return (await manager.findOneBy(ClientRequestEntity, { id })) ?? request;
    });
  }

  private async isVisible(
    manager: EntityManager,
    { status, clientId, userId: requester }: ClientRequestEntity,
    userId: number | undefined,
  ): Promise<boolean> {
    if (userId === undefined) return status !== 'draft';
    if (clientId === null) return requester === userId;
    return manager.existsBy(ClientOwnerEntity, { clientId, userId });
  }

  private async checkLimit(manager: EntityManager, userId: number): Promise<void> {
    await lockUserLimits(manager, userId);
    const open = await manager.countBy(ClientRequestEntity, { userId, status: In(UNDECIDED) });
    if (open >= OWNER_LIMITS.requests) throw limitReached('requests');
  }

  private async checkUndecided(manager: EntityManager, clientId: string): Promise<void> {
    if (await manager.existsBy(ClientRequestEntity, { clientId, status: In(OPEN) }))
      throw refused('conflict', problem('request_undecided', [], { clientId }));
  }
}
