import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import { changesBetween } from '#audit/changes.js';
import type { AuditRecord, FieldChange } from '#audit/event.js';
import type { RequestFinding } from '#error-guide/request-findings.js';
import { type AdministrationError, refused } from '#platform/validation/administration.error.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import { described } from '#operations/member-names.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { isAdminScope } from '#oauth/client-credentials.js';
import { type Input, validated } from '#operations/operation-input.js';
import { problem } from '#platform/validation/problem.js';
import { Satisfies } from '#platform/validation/validate.js';
import { ClientMemberStore } from '../../owners/client-member.store.js';
import type { ClientLogo, ClientWithSecrets } from '../../client.js';
import type { ClientRegistration } from '../../client-registration.store.js';
import { ClientStore } from '../../client.store.js';
import type { ClientRequestEntity } from '../../requests/client-request.entity.js';
import {
  type ChangeOfClient,
  ClientRequestStore,
  type QueuedRequest,
} from '../../requests/client-request.store.js';
import { findingsOf } from '../../requests/registration-review.js';
import { isPlainText, PLAIN_TEXT, type RequestDetails } from '../../requests/request-content.js';
import { recordedRegistration, updateEvent } from '../client.description.js';
import { ListChangesDto } from '../client.dto.js';
import { ownerView, type OwnerView } from '../owners/client-member.service.js';
import { checkPrivileges } from '../privileged-client.js';
import { changedRegistration, type CheckedChanges, checkClientChanges } from '../registration-changes.js';
import { MessageDto, RequestStepDto } from './request.service.js';
import { requestedChange } from './requested-registration.js';
import { messageView, type MessageView, requestView, type RequestView } from './request.description.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    scope_not_offered: { readonly scope: string };
  }
}

/** A decision that owners need an explanation for. */
export class ExplainedDecisionDto extends RequestStepDto {
  @Satisfies((text) => isPlainText(text), PLAIN_TEXT)
  @IsString()
  text: string;
}

export type QueuedRequestView = ReturnType<typeof queuedView>;

export interface ReviewedRequest {
  readonly request: RequestView;
  readonly messages: readonly MessageView[];
  readonly owners: readonly OwnerView[];
  /** The registration as it is, described as in the audit trail. */
  readonly current: Readonly<Record<string, unknown>>;
  /** Difference that the approval would make. */
  readonly changes: Readonly<Record<string, FieldChange>>;
  readonly findings: readonly RequestFinding[];
}

/** Reviews of operators. Of two concurrent decisions, one gets a conflict. */
@Injectable()
export class ReviewService {
  constructor(
    private readonly requests: ClientRequestStore,
    private readonly clients: ClientStore,
    private readonly members: ClientMemberStore,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  /** Returns undecided requests, oldest first, at most 100, and the number of all. */
  async queue(): Promise<{ readonly requests: readonly QueuedRequestView[]; readonly count: number }> {
    const { requests, count } = await this.requests.queue();
    return {
      count,
      requests: requests.map(queuedView),
    };
  }

  async find(id: string): Promise<ReviewedRequest> {
    const request = await this.found(id);
    const { clientId } = request;
    const client = clientId === null ? null : await this.clients.find(clientId);
    if (clientId === null || !client) throw unknownRequest(id);
    const current = recordedRegistration(client);
    const notOffered = isOpen(request) ? this.notOffered(request) : [];
    const wanted = isOpen(request) ? await this.approved(request, client, notOffered) : client;
    const { reasons = {} } = request.content as Partial<RequestDetails>;
    const isChange = request.kind === 'change';
    const findings = findingsOf(
      {
        ...wanted,
        hasLogo: wanted.logo !== null,
        scopes: wanted.scopes.filter((scope) => !isChange || !client.scopes.includes(scope)),
        reasons,
      },
      this.options.settings.productName,
      await this.clients.othersLike(clientId, wanted.name),
    );
    return {
      request: requestView(request),
      messages: (await this.requests.messages(id)).map(messageView),
      owners: (await this.members.owners(clientId)).map(ownerView),
      current,
      changes: changesBetween(current, recordedRegistration(wanted)).changes ?? {},
      findings: [
        ...notOffered.map((scope) => ({ id: 'scope_not_offered', values: { scope } }) as const),
        ...findings,
      ],
    };
  }

  /** Makes an application live with the same id and secrets, or applies a change. */
  async approve(actor: Actor, id: string, input: Input<MessageDto>): Promise<Change<RequestView>> {
    const { version, text } = validated(MessageDto, input);
    const found = await this.found(id);
    const [scope] = this.notOffered(found);
    if (scope !== undefined) throw refused('conflict', problem('scope_not_offered', [], { scope }));
    const requested = await this.changeOf(found);
    const { consoleUrl } = this.options.settings;
    const change: ChangeOfClient = (current, existing) => {
      const changed = requested(current, existing);
      for (const client of [current, changed]) checkPrivileges(actor, client, consoleUrl);
      return changed;
    };
    const message = text === undefined ? null : { name: actor.name, text };
    const { request, update } = await this.requests.approve({ id, version }, actor.name, message, change);
    const client = await this.clients.find(request.clientId ?? '');
    const updated = client && updateEvent(client, update);
    return this.decided(actor, 'approved', request, ...(updated?.changes ? [updated] : []));
  }

  async ask(actor: Actor, id: string, input: Input<ExplainedDecisionDto>): Promise<Change<RequestView>> {
    const { version, text } = validated(ExplainedDecisionDto, input);
    const request = await this.requests.ask({ id, version }, { name: actor.name, text });
    return this.decided(actor, 'asked', request);
  }

  /** Rejects a request. An application in testing is disabled; its owners may request it again. */
  async reject(actor: Actor, id: string, input: Input<ExplainedDecisionDto>): Promise<Change<RequestView>> {
    const { version, text } = validated(ExplainedDecisionDto, input);
    const message = { name: actor.name, text };
    const request = await this.requests.reject({ id, version }, actor.name, message);
    return this.decided(actor, 'rejected', request);
  }

  /** Returns the client as it would be after the approval. */
  private async approved(
    request: ClientRequestEntity,
    client: ClientWithSecrets,
    notOffered: readonly string[],
  ): Promise<ClientWithSecrets> {
    const change = await this.changeOf(request, notOffered);
    const hasSecrets = client.secrets.length > 0;
    const hasDocument = client.document !== null;
    const { logo, ...after } = change(client, { type: client.type, hasSecrets, hasDocument });
    return {
      ...client,
      ...after,
      stage: 'live',
      logo: logo === undefined ? client.logo : logo && digestOf(logo),
    };
  }

  private async found(id: string): Promise<ClientRequestEntity> {
    const request = await this.requests.find(id);
    if (request) return request;
    throw unknownRequest(id);
  }

  /** Requested scopes that have left the scope file. */
  private notOffered({ content }: ClientRequestEntity): string[] {
    const { scopes, addScopes } = requestedChange(content) as Readonly<Record<string, unknown>>;
    const requested: readonly unknown[] = [scopes, addScopes].flat();
    const catalogue = this.options.scopes().value;
    return requested.filter(
      (scope): scope is string => typeof scope === 'string' && !isAdminScope(scope) && !catalogue.has(scope),
    );
  }

  /**
   * The store applies the change only to the version of the request from which it was made.
   * @param notOffered scopes that are accepted, so that the request can be shown
   */
  private async changeOf(
    { content, clientId }: ClientRequestEntity,
    notOffered: readonly string[] = [],
  ): Promise<ChangeOfClient> {
    const catalogue = this.options.scopes().value;
    const changes = await checkClientChanges(requestedChange(content), () => catalogue.with(notOffered));
    return (current, existing) =>
      changedRegistration({ clientId: clientId ?? '', ...existing }, current, notYetAdded(changes, current));
  }

  private decided(
    actor: Actor,
    step: 'approved' | 'asked' | 'rejected',
    request: ClientRequestEntity,
    ...more: readonly AuditRecord[]
  ): Change<RequestView> {
    const { id, kind, clientId } = request;
    const detail = { request: id, kind };
    const record = { type: `client_request.${step}`, client_id: clientId ?? '', detail } as const;
    return {
      result: requestView(request),
      announced: this.announcer.clientsChanged(actor, clientId === null ? [] : [clientId], record, ...more),
    };
  }
}

function queuedView(request: QueuedRequest) {
  return described(request, ['id', 'version', 'kind', 'status', 'name', 'clientId', 'submittedAt']);
}

const isOpen = ({ status }: ClientRequestEntity): boolean => status === 'submitted' || status === 'question';

/** Omits additions that an operator has made in the meantime, so that the rest of the request can be reviewed. */
function notYetAdded({ lists, ...changes }: CheckedChanges, current: ClientRegistration): CheckedChanges {
  const addRedirectUris = lists.addRedirectUris.filter((uri) => !current.redirectUris.includes(uri));
  const addScopes = lists.addScopes.filter((scope) => !current.scopes.includes(scope));
  return { ...changes, lists: Object.assign(new ListChangesDto(), lists, { addRedirectUris, addScopes }) };
}

function unknownRequest(id: string): AdministrationError {
  return refused('unknown', problem('request_unknown', [], { id }));
}

const digestOf = ({ image }: ClientLogo): string => createHash('sha256').update(image).digest('hex');
