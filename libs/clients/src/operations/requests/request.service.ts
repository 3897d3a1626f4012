import { Injectable } from '@nestjs/common';
import { AdministrationError, refused, refuseInvalid } from '#platform/validation/administration.error.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import type { Change, OwnerActor } from '#operations/audit-trail.js';
import { checked, type Input, validated } from '#operations/operation-input.js';
import { generateClientSecret, hasKeys } from '#oauth/oauth-client.js';
import { problem } from '#platform/validation/problem.js';
import { IsString } from 'class-validator';
import { MayBeAbsent, Satisfies, WholeNumber } from '#platform/validation/validate.js';
import type { ClientRequestEntity } from '../../requests/client-request.entity.js';
import {
  type ChangeOfClient,
  ClientRequestStore,
  type ListedRequest,
} from '../../requests/client-request.store.js';
import { isPlainText, PLAIN_TEXT, RegistrationDetails } from '../../requests/request-content.js';
import type { AuditRecord } from '#audit/event.js';
import type { ClientWithSecrets } from '../../client.js';
import type { RegistrationUpdate } from '../../client-registration.store.js';
import { OwnedClientStore } from '../../owners/owned-client.store.js';
import { recordedRegistration, updateEvent } from '../client.description.js';
import { checkNewClient } from '../new-client.js';
import { type RegisteredClient, registeredView } from '../registered-client.js';
import { changedRegistration, checkClientChanges } from '../registration-changes.js';
import {
  detailsOf,
  missingReasons,
  refuseOthers,
  type RequestContent,
  requestedChange,
  requestedRegistration,
  reservedUris,
} from './requested-registration.js';
import { messageView, type MessageView, requestView, type RequestView } from './request.description.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    request_too_large: { readonly max: number };
    /** The kind of an application decides its credentials. */
    application_fixed: null;
  }
}

/** The version that the owner has read. */
export class RequestStepDto {
  @WholeNumber(1, 2 ** 31)
  version: number;
}

/** A message on the version of a request that its author has read. */
export class MessageDto extends RequestStepDto {
  @Satisfies((text) => isPlainText(text), PLAIN_TEXT)
  @IsString()
  @MayBeAbsent()
  text?: string;
}

export interface SubmittedRequest {
  readonly request: RequestView;
  /** Credentials of the new application; null if the application exists already. Shown once. */
  readonly client: RegisteredClient | null;
}

const unchanged: ChangeOfClient = (current) => current;
const MAX_CONTENT = 240_000;
const REQUESTED_DETAILS = ['purpose', 'termsUri', 'reasons', 'application'] as const;

/** Requests of an owner. Each step expects the version of the request that the owner has read. */
@Injectable()
export class RequestService {
  constructor(
    private readonly requests: ClientRequestStore,
    private readonly applications: OwnedClientStore,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  /** Lists the drafts and undecided requests of the user and of the user's applications, newest first. */
  undecided(actor: OwnerActor): Promise<ListedRequest[]> {
    return this.requests.undecided(actor.userId);
  }

  /** Lists the newest requests of an application that the actor owns, at most 100. */
  ofClient(clientId: string): Promise<ListedRequest[]> {
    return this.requests.ofClient(clientId);
  }

  /** Finds the registration that an application in testing waits for. */
  async openRegistration(actor: OwnerActor, clientId: string): Promise<RequestView> {
    const request = await this.requests.lastRegistration(clientId);
    if (!request) throw refused('unknown', problem('request_unknown', [], { id: clientId }));
    const { id, status } = request;
    if (status !== 'submitted' && status !== 'question')
      throw refused('conflict', problem('request_not_open', [], { id, status }));
    return (await this.find(actor, id)).request;
  }

  async find(
    actor: OwnerActor,
    id: string,
  ): Promise<{ readonly request: RequestView; readonly messages: readonly MessageView[] }> {
    const request = await this.found(actor, id);
    const messages = await this.requests.messages(id);
    return { request: requestView(request), messages: messages.map(messageView) };
  }

  /**
   * Keeps a draft, which may be incomplete.
   * @param clientId application in testing whose registration was rejected; absent for a new application
   */
  async createDraft(actor: OwnerActor, content: RequestContent, clientId?: string): Promise<RequestView> {
    checkDraft(content);
    return requestView(await this.requests.createDraft(actor.userId, { ...content }, clientId));
  }

  async saveDraft(
    actor: OwnerActor,
    id: string,
    step: Input<RequestStepDto>,
    content: RequestContent,
  ): Promise<RequestView> {
    const { version } = validated(RequestStepDto, step);
    checkDraft(content);
    return requestView(await this.requests.saveDraft(actor.userId, { id, version }, { ...content }));
  }

  async deleteDraft(actor: OwnerActor, id: string, step: Input<RequestStepDto>): Promise<void> {
    const { version } = validated(RequestStepDto, step);
    await this.requests.deleteDraft(actor.userId, { id, version });
  }

  /** Submits a draft. A new application can be tested immediately, by its owners and testers. */
  async submit(
    actor: OwnerActor,
    id: string,
    step: Input<RequestStepDto>,
  ): Promise<Change<SubmittedRequest>> {
    const { version } = validated(RequestStepDto, step);
    const draft = await this.found(actor, id);
    const client = await this.checkedContent(draft.content);
    const credential = client.type === 'public' || hasKeys(client) ? null : generateClientSecret();
    const change = draft.clientId === null ? unchanged : await this.changeTo(draft);
    const existing =
      draft.clientId === null ? null : await this.applications.find(draft.clientId, actor.userId);
    if (existing && (existing.type !== client.type || existing.deviceGrant !== client.deviceGrant))
      throw refused('conflict', problem('application_fixed', 'application'));
    const { created, update } = await this.requests.submit(
      actor.userId,
      { id, version },
      { ...client, ...(credential && { secretHash: credential.hash }) },
      change,
    );
    const request = await this.found(actor, id);
    const event = created ? createdEvent(created) : await this.changedBy(actor, request, update);
    return {
      result: {
        request: requestView(request),
        client: created && registeredView(created, credential?.secret ?? null, this.options.settings),
      },
      announced: this.announce(actor, 'submitted', request, event),
    };
  }

  /** Answers a question, revises an undecided request, or both. @param revised whole new content */
  async answer(
    actor: OwnerActor,
    id: string,
    input: Input<MessageDto>,
    revised?: RequestContent,
  ): Promise<Change<RequestView>> {
    const { version, text } = validated(MessageDto, input);
    const request = await this.found(actor, id);
    if (text === undefined && !revised) throw refused('invalid', problem('nothing_to_change', []));
    const message = text === undefined ? null : { name: actor.name, text };
    const content = revised && (await this.revision(request, revised));
    const { request: answered, update } = await this.requests.answer(
      actor.userId,
      { id, version },
      message,
      content,
    );
    const event = await this.changedBy(actor, answered, update);
    return { result: requestView(answered), announced: this.announce(actor, 'answered', answered, event) };
  }

  /** Withdraws a change of a live application. Deleting an application in testing withdraws its registration. */
  async withdraw(actor: OwnerActor, id: string, step: Input<RequestStepDto>): Promise<Change<RequestView>> {
    const { version } = validated(RequestStepDto, step);
    const request = await this.found(actor, id);
    if (request.kind === 'registration')
      throw refused('conflict', problem('request_not_open', [], { id, status: request.status }));
    const withdrawn = await this.requests.withdraw(actor.userId, { id, version });
    return { result: requestView(withdrawn), announced: this.announce(actor, 'withdrawn', withdrawn) };
  }

  private async found(actor: OwnerActor, id: string): Promise<ClientRequestEntity> {
    const request = await this.requests.find(id, actor.userId);
    if (request) return request;
    throw refused('unknown', problem('request_unknown', [], { id }));
  }

  /** Lists the problems of the details and of the registration together. */
  private async checkedContent(content: object): ReturnType<typeof checkNewClient> {
    const { dto: details, problems } = checked(RegistrationDetails, detailsOf(content));
    const registration = requestedRegistration(content, details);
    const found = [
      ...problems,
      ...missingReasons(registration.scopes, details.reasons),
      ...reservedUris(registration.redirectUris, this.options.settings),
    ];
    const catalogue = this.options.scopes().value;
    const client = await checkNewClient({ scopes: [], ...registration }, catalogue, '').catch(
      (error: unknown) => {
        if (!(error instanceof AdministrationError)) throw error;
        throw new AdministrationError('invalid', [...found, ...error.problems]);
      },
    );
    refuseInvalid(found);
    return client;
  }

  /** Returns the change of an existing application in testing to the content of its request. */
  private async changeTo({ content }: Pick<ClientRequestEntity, 'content'>): Promise<ChangeOfClient> {
    const fields = requestedChange(content);
    const changes = await checkClientChanges(fields, () => this.options.scopes().value);
    return (current, existing) => changedRegistration({ clientId: '', ...existing }, current, changes);
  }

  private async revision(
    { kind, content }: ClientRequestEntity,
    revised: RequestContent,
  ): Promise<{ readonly content: object; readonly change?: ChangeOfClient }> {
    // A change is withdrawn and requested again, because it depends on the live registration.
    if (kind === 'change') throw refused('conflict', problem('application_fixed', []));
    checkDraft(revised);
    await this.checkedContent(revised);
    if (revised.application !== (content as RequestContent).application)
      throw refused('conflict', problem('application_fixed', 'application'));
    return { content: { ...revised }, change: await this.changeTo({ content: { ...revised } }) };
  }

  private async changedBy(
    actor: OwnerActor,
    { clientId }: ClientRequestEntity,
    update: RegistrationUpdate | null,
  ): Promise<AuditRecord | null> {
    if (!update || clientId === null) return null;
    const client = await this.applications.find(clientId, actor.userId);
    return client && updateEvent(client, update);
  }

  private announce(
    actor: OwnerActor,
    step: 'submitted' | 'answered' | 'withdrawn',
    { id, kind, clientId }: ClientRequestEntity,
    event: AuditRecord | null = null,
  ): Promise<string[]> {
    const record = { type: `client_request.${step}`, detail: { request: id, kind } } as const;
    if (clientId === null) return this.announcer.record(actor, record);
    const events = [...(event ? [event] : []), { ...record, client_id: clientId }];
    return this.announcer.clientsChanged(actor, [clientId], ...events);
  }
}

function createdEvent(client: ClientWithSecrets): AuditRecord {
  return { type: 'client.created', client_id: client.clientId, detail: recordedRegistration(client) };
}

/** Rejects unknown fields, and content that would not fit; submitting checks the rest. */
function checkDraft(content: object): void {
  refuseOthers(content, ...REQUESTED_DETAILS);
  if (JSON.stringify(content).length > MAX_CONTENT)
    throw refused('invalid', problem('request_too_large', [], { max: MAX_CONTENT }));
}
