import { Injectable } from '@nestjs/common';
import { changesBetween } from '#audit/changes.js';
import type { AuditRecord } from '#audit/event.js';
import { ClientRegistrationStore } from '../client-registration.store.js';
import { ClientLogoStore } from '../client-logo.store.js';
import {
  type ClientCondition,
  type ClientLogo,
  type ClientWithSecrets,
  DuplicateClientError,
  unknownClient,
} from '../client.js';
import { ClientStore } from '../client.store.js';
import { GrantAdministrationStore } from '#grants/records/grant-administration.store.js';
import { type ListPage, MAX_COUNT } from '#platform/postgres/list-page.js';
import {
  type ConsentPreviewReply,
  type ConsentPreviewRequest,
  OPERATOR_SUBJECTS,
} from '#messaging/request-sender.js';
import { generateClientSecret, hasKeys } from '#oauth/oauth-client.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OutsideHosts } from '#platform/http/outside-hosts.js';
import { OutsideHttp } from '#platform/http/outside-http.js';
import { AdministrationError, type Expected, refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import { AdministrationOptions, readableScopes } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import { type Input, validated } from '#operations/operation-input.js';
import { mapPage, pageRequest, trimmed } from '#operations/list.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { RunningServices } from '#operations/running-services/running-services.js';
import { serviceTimes } from '#operations/running-services/status.js';
import { type ClientView, clientView, recordedRegistration, updateEvent } from './client.description.js';
import { type RegisteredClient, registeredView } from './registered-client.js';
import {
  type ClientChanges,
  ClientFilterDto,
  ClientListDto,
  HandoverDto,
  type NewClientInput,
} from './client.dto.js';
import { identifyClient } from './client-lookup.js';
import { consoleChangeProblems, isConsoleClient } from './console-client.js';
import { redirectUriHints } from '#error-guide/redirect-uri-hints.js';
import { checkPrivileges, conditionBy } from './privileged-client.js';
import { clientCredentialsText } from './handover-client-credentials.js';
import { handoverText } from './handover.js';
import { checkDocumentClient, checkNewClient } from './new-client.js';
import { changedRegistration, checkClientChanges } from './registration-changes.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    client_registered: { readonly clientId: string };
    /** Number of live grants whose users would get another `sub`. */
    confirmNewSubjects: { readonly clientId: string; readonly grants: number };
  }
}

const MAX_CANDIDATES = 20;

export interface UpdatedClient {
  readonly client: ClientView;
  readonly lostScopes: readonly string[];
  /** Scopes that users may no longer decline. */
  readonly requiredScopes: readonly string[];
}

export interface ClientState {
  readonly client_id: string;
  readonly disabled: boolean;
  readonly disabled_before: boolean;
}

export interface DeletedClient {
  readonly client_id: string;
  readonly deleted: true;
  readonly deleted_before: boolean;
  readonly revoked_grants: number;
}

/** Methods accept the client_id, or a name that only one client has. */
@Injectable()
export class ClientService {
  constructor(
    private readonly clients: ClientStore,
    private readonly registrations: ClientRegistrationStore,
    private readonly logos: ClientLogoStore,
    private readonly grants: GrantAdministrationStore,
    private readonly services: RunningServices,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  async list(input: Input<ClientListDto> = {}): Promise<ListPage<ClientView>> {
    const { limit, cursor, ...filter } = validated(ClientListDto, input);
    return mapPage(await this.clients.list(trimmed(filter), pageRequest(limit, cursor)), clientView);
  }

  /** Counts the matching clients, at most `MAX_COUNT` + 1. */
  async count(input: Input<ClientFilterDto> = {}): Promise<number> {
    return this.clients.count(trimmed(validated(ClientFilterDto, input)));
  }

  /** Returns the client_ids of the matching clients, newest first, at most `MAX_COUNT` + 1. */
  async ids(input: Input<ClientFilterDto> = {}): Promise<string[]> {
    return this.clients.ids(trimmed(validated(ClientFilterDto, input)));
  }

  /**
   * Finds clients as the list does, unless the text is the id or the name of one client.
   * @returns client_ids, newest first; empty if the text matches none, and may be the id of a deleted client
   */
  async candidates(text: string): Promise<string[]> {
    const known = await this.clients.identify(text);
    if (known.length > 0) return known;
    return (await this.clients.list({ search: text.trim() }, { limit: MAX_CANDIDATES })).items.map(
      ({ clientId }) => clientId,
    );
  }

  /** Returns the names of the registered clients among these ids. */
  names(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.clients.names(ids);
  }

  async find(idOrName: string): Promise<ClientView> {
    return clientView(await this.registered(idOrName));
  }

  /** Returns the argument as the id, and a null name, if the client is unknown, because it may be deleted. */
  async identify(idOrName: string): Promise<{ readonly client_id: string; readonly name: string | null }> {
    const clientId = await identifyClient(this.clients, idOrName);
    return { client_id: clientId, name: (await this.clients.find(clientId))?.name ?? null };
  }

  async check(input: NewClientInput): Promise<void> {
    await this.checkNew(input);
  }

  /** Checks a change without making it. @returns the client, unchanged */
  async checkUpdate(idOrName: string, input: ClientChanges): Promise<ClientView> {
    const checked = await checkClientChanges(input, () => this.options.scopes().value);
    const client = await this.registered(idOrName);
    const state = { hasSecrets: client.secrets.length > 0, hasDocument: client.document !== null };
    changedRegistration({ ...client, ...state }, client, checked);
    return clientView(client);
  }

  /** Numbers of live grants, and of their users; null for more than `MAX_COUNT` grants, which take seconds to sort. */
  async countGrants(idOrName: string): Promise<{ readonly grants: number; readonly users: number | null }> {
    const clientId = await identifyClient(this.clients, idOrName);
    const grants = await this.grants.countLive({ clientId });
    return { grants, users: grants > MAX_COUNT ? null : await this.grants.countUsers(clientId) };
  }

  /** Returns true for the application by which operators log in to the console. */
  isConsole({ redirect_uris: uris }: Pick<ClientView, 'redirect_uris'>): boolean {
    return isConsoleClient(uris, this.options.settings.consoleUrl);
  }

  async create(actor: Actor, input: NewClientInput): Promise<Change<RegisteredClient>> {
    const client = await this.checkNew(input);
    const { type, redirectUris } = client;
    this.checkPrivileges(actor, client);
    const credential = type === 'public' || hasKeys(client) ? null : generateClientSecret();
    const created = await this.clients
      .create({ ...client, operator: actor.name, ...(credential && { secretHash: credential.hash }) })
      .catch((error: unknown) => {
        throw error instanceof DuplicateClientError ? registeredBefore(error) : error;
      });
    const { clientId } = created;
    const hints = redirectUriHints(redirectUris, type);
    const detail = recordedRegistration(created);
    return {
      result: registeredView(created, credential?.secret ?? null, this.options.settings),
      announced: this.announce(actor, { type: 'client.created', client_id: clientId, detail }, hints),
    };
  }

  /**
   * @throws AdministrationError of the kind `unconfirmed` with every missing confirmation: `confirmNewSubjects` if
   * users with live grants would get new subjects, `confirmConsole` if operators could not log in to the console
   */
  async update(actor: Actor, idOrName: string, input: ClientChanges): Promise<Change<UpdatedClient>> {
    const checked = await checkClientChanges(input, () => this.options.scopes().value);
    const { lists, fields } = checked;
    const clientId = await identifyClient(this.clients, idOrName);
    const isRisky = fields.subject !== undefined && !lists.confirmNewSubjects;
    const grants = isRisky ? await this.grants.countLive({ clientId }) : 0;
    const { consoleUrl } = this.options.settings;
    const update = await this.registrations.update(
      clientId,
      (current, existing) => {
        const changed = changedRegistration({ clientId, ...existing }, current, checked);
        this.checkPrivileges(actor, changed);
        const unconfirmed = [
          ...(grants > 0 && changed.sector !== current.sector
            ? [problem('confirmNewSubjects', [], { clientId, grants })]
            : []),
          ...(lists.confirmConsole ? [] : consoleChangeProblems(clientId, current, changed, consoleUrl)),
        ];
        if (unconfirmed.length > 0) throw new AdministrationError('unconfirmed', unconfirmed);
        return changed;
      },
      {
        ...conditionBy(actor, { version: lists.expectedVersion }),
        check: (client) => this.checkPrivileges(actor, client),
      },
    );
    const updated = await this.clients.find(clientId);
    if (!updated) throw unknownClient(clientId);
    const { scopes, optionalScopes } = update.before;
    const hints = redirectUriHints(fields.redirectUris ?? lists.addRedirectUris, updated.type);
    return {
      result: {
        client: clientView(updated),
        lostScopes: scopes.filter((name) => !updated.scopes.includes(name)),
        requiredScopes: optionalScopes.filter(
          (name) => updated.scopes.includes(name) && !updated.optionalScopes.includes(name),
        ),
      },
      announced: this.announce(actor, updateEvent(updated, update), hints),
    };
  }

  /**
   * Safe to repeat: the change is announced again.
   * @throws AdministrationError of the kind `unconfirmed` for the client of the console without `confirmConsole`
   */
  async disable(
    actor: Actor,
    idOrName: string,
    expected?: Expected,
    confirmConsole = false,
  ): Promise<Change<ClientState>> {
    return this.setDisabled(
      actor,
      idOrName,
      true,
      (client) => {
        this.checkPrivileges(actor, client);
        if (!confirmConsole) this.keepConsole(client, 'enabled');
      },
      expected,
    );
  }

  enable(actor: Actor, idOrName: string, expected?: Expected): Promise<Change<ClientState>> {
    return this.setDisabled(
      actor,
      idOrName,
      false,
      (client) => this.checkPrivileges(actor, client),
      expected,
    );
  }

  /**
   * Safe to repeat after a failure.
   * @throws AdministrationError of the kind `incomplete` if the services do not answer, or like `disable`
   */
  async delete(
    actor: Actor,
    idOrName: string,
    expected?: Expected,
    confirmConsole = false,
  ): Promise<Change<DeletedClient>> {
    const clientId = await identifyClient(this.clients, idOrName);
    const { first, revokedGrants } = await this.registrations.delete(clientId, {
      ...conditionBy(actor, expected),
      check: (client) => {
        this.checkPrivileges(actor, client);
        if (!confirmConsole) this.keepConsole(client, 'client');
      },
    });
    // Order matters: the broadcast stops new tokens before existing ones are revoked.
    const warnings = await this.services.clientsChanged([clientId]);
    const detail = { revoked_grants: revokedGrants };
    const record = { type: 'client.deleted', client_id: clientId, detail } as const;
    const owner = { client_id: clientId };
    warnings.push(...(await this.announcer.applyRevocation(actor, owner, 'the client is deleted', record)));
    return {
      result: { client_id: clientId, deleted: true, deleted_before: !first, revoked_grants: revokedGrants },
      announced: Promise.resolve(warnings),
    };
  }

  /** Returns Markdown without the secret. */
  async handover(
    idOrName: string,
    input: Input<HandoverDto>,
  ): Promise<{
    readonly client_id: string;
    readonly markdown: string;
    readonly warnings: readonly string[];
  }> {
    const { secretDelivery, guide } = validated(HandoverDto, input);
    const { settings } = this.options;
    const client = await this.registered(idOrName);
    if (client.grantType === 'client_credentials') {
      const markdown = clientCredentialsText(client, settings);
      return { client_id: client.clientId, markdown, warnings: [] };
    }
    const { times, warnings } = await serviceTimes(this.services);
    const scopes = readableScopes(this.options, settings.apiUrl);
    const markdown = handoverText(client, settings, { secretDelivery, guide, times, scopes });
    return { client_id: client.clientId, markdown, warnings };
  }

  async logo(idOrName: string): Promise<ClientLogo | null> {
    const { logo } = await this.registered(idOrName);
    return logo === null ? null : ((await this.logos.find([logo])).get(logo) ?? null);
  }

  /** Inlines the logo here, because a reply with the largest logo would exceed the `max_payload` of NATS. */
  async consentPreview(idOrName: string, locale: string): Promise<NonNullable<ConsentPreviewReply['page']>> {
    const clientId = await identifyClient(this.clients, idOrName);
    const request = { client_id: clientId, locale } satisfies ConsentPreviewRequest;
    const { consentPreview } = OPERATOR_SUBJECTS;
    const { page } = await this.services.askAuthorize<ConsentPreviewReply>(consentPreview, request);
    if (!page) throw unknownClient(clientId);
    const digest = (await this.clients.find(clientId))?.logo;
    const logo = digest && (await this.logos.find([digest])).get(digest);
    if (!logo) return page;
    const data = `data:${logo.mediaType};base64,${logo.image.toString('base64')}`;
    return { ...page, document: page.document.replaceAll(`"${ENDPOINTS.logos}/${digest}"`, `"${data}"`) };
  }

  private async announce(
    actor: Actor,
    record: AuditRecord & { readonly client_id: string },
    hints: readonly string[],
  ): Promise<string[]> {
    return [...hints, ...(await this.announcer.clientsChanged(actor, [record.client_id], record))];
  }

  private checkNew(input: NewClientInput): ReturnType<typeof checkNewClient> {
    const { settings } = this.options;
    const catalogue = this.options.scopes().value;
    if (input.metadataUrl === undefined) return checkNewClient(input, catalogue, settings.consoleUrl);
    return checkDocumentClient(
      input,
      catalogue,
      new OutsideHttp(new OutsideHosts(settings.outsideFetchAllow)),
    );
  }

  private async registered(idOrName: string): Promise<ClientWithSecrets> {
    const client = await this.clients.find(await identifyClient(this.clients, idOrName));
    if (!client) throw unknownClient(idOrName);
    return client;
  }

  private checkPrivileges(actor: Actor, client: Parameters<typeof checkPrivileges>[1]): void {
    checkPrivileges(actor, client, this.options.settings.consoleUrl);
  }

  private keepConsole(
    { clientId, redirectUris }: { readonly clientId: string; readonly redirectUris: readonly string[] },
    lost: 'client' | 'enabled',
  ): void {
    if (isConsoleClient(redirectUris, this.options.settings.consoleUrl))
      throw refused('unconfirmed', problem('confirmConsole', [], { clientId, lost }));
  }

  private async setDisabled(
    actor: Actor,
    idOrName: string,
    disabled: boolean,
    check: NonNullable<ClientCondition['check']>,
    expected?: Expected,
  ): Promise<Change<ClientState>> {
    const clientId = await identifyClient(this.clients, idOrName);
    const condition = { ...conditionBy(actor, expected), check };
    const changed = await this.registrations.setDisabled(clientId, disabled, condition);
    const type = disabled ? 'client.disabled' : 'client.enabled';
    const warnings = await this.announcer.clientsChanged(actor, [clientId], {
      type,
      client_id: clientId,
      ...changesBetween({ disabled: disabled !== changed }, { disabled }),
    });
    return {
      result: { client_id: clientId, disabled, disabled_before: changed !== disabled },
      announced: Promise.resolve(warnings),
    };
  }
}

/** The id of a deleted client is never used again. */
function registeredBefore({ clientId }: DuplicateClientError): AdministrationError {
  return refused('conflict', problem('client_registered', [], { clientId }));
}
