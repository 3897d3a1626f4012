import { Injectable } from '@nestjs/common';
import type { FieldChange } from '#audit/event.js';
import { type Expected, refuseInvalid } from '#platform/validation/administration.error.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { Announcer } from '#operations/announcer.js';
import type { Change, OwnerActor } from '#operations/audit-trail.js';
import { type Input, validated } from '#operations/operation-input.js';
import type { ClientKeysReply } from '#messaging/contract.js';
import { RunningServices } from '#operations/running-services/running-services.js';
import { ClientRegistrationStore } from '../../client-registration.store.js';
import type { ClientHistoryEntity } from '../../owners/client-owner.entity.js';
import { type OwnedClient, OwnedClientStore, type OwnedSummary } from '../../owners/owned-client.store.js';
import { ClientRequestStore } from '../../requests/client-request.store.js';
import { RequestDetails } from '../../requests/request-content.js';
import { splitChange } from '../../requests/reviewed-changes.js';
import { updateEvent } from '../client.description.js';
import type { ClientChanges } from '../client.dto.js';
import { unknownClient } from '../../client.js';
import { changedRegistration, checkClientChanges } from '../registration-changes.js';
import { requestView, type RequestView } from '../requests/request.description.js';
import {
  detailsOf,
  type GivenRegistration,
  missingReasons,
  refuseOthers,
  registrationFields,
  reservedUris,
} from '../requests/requested-registration.js';

/** Changes that need a review also need their purpose, and a reason for each further scope. */
export type ApplicationChange = GivenRegistration & Input<Pick<RequestDetails, 'purpose' | 'reasons'>>;

export interface ChangedApplication {
  readonly client_id: string;
  /** Changes that took effect immediately. */
  readonly changes: Readonly<Record<string, FieldChange>>;
  /** Changes that an operator must approve; null if none. */
  readonly request: RequestView | null;
}

/** Applications of an owner. `ClientSecretService` changes their secrets, and `ClientService` deletes them. */
@Injectable()
export class ApplicationService {
  constructor(
    private readonly applications: OwnedClientStore,
    private readonly requests: ClientRequestStore,
    private readonly registrations: ClientRegistrationStore,
    private readonly services: RunningServices,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  list(actor: OwnerActor): Promise<OwnedSummary[]> {
    return this.applications.list(actor.userId);
  }

  async find(actor: OwnerActor, clientId: string): Promise<OwnedClient> {
    const client = await this.applications.find(clientId, actor.userId);
    if (!client) throw unknownClient(clientId);
    return client;
  }

  /**
   * Returns changes of an application, newest first, 100 per page.
   * @param before id of the last change of the page before
   */
  async history(actor: OwnerActor, clientId: string, before?: string): Promise<ClientHistoryEntity[]> {
    if (!(await this.applications.owns(clientId, actor.userId))) throw unknownClient(clientId);
    return this.applications.history(clientId, before);
  }

  /** Counts users with live grants, in bounded time. */
  async countUsers(clientId: string): Promise<number> {
    const users = await this.applications.countUsers(clientId);
    if (users === null) throw unknownClient(clientId);
    return users;
  }

  /** Returns the state of the keys at the `jwks_uri` of an own application; null if it is not known. */
  fetchedKeys({ clientId }: OwnedClient): Promise<ClientKeysReply['fetched']> {
    return this.services.fetchedKeys(clientId);
  }

  /** Replaces the keys immediately, also of an application in testing. Its request does not contain them. */
  async changeKeys(
    actor: OwnerActor,
    clientId: string,
    keys: Pick<ClientChanges, 'jwks' | 'jwksUri'>,
    expected: Expected = {},
  ): Promise<Change<null>> {
    const checked = await checkClientChanges(keys, () => this.options.scopes().value);
    const update = await this.registrations.update(
      clientId,
      (current, existing) => changedRegistration({ clientId, ...existing }, current, checked),
      { ...expected, owner: actor.userId },
    );
    const client = await this.find(actor, clientId);
    return {
      result: null,
      announced: this.announcer.clientsChanged(actor, [clientId], updateEvent(client, update)),
    };
  }

  /**
   * Changes a live application. Changes that need a review become a request, while the registration stays as it is. An
   * application in testing is changed by its request.
   */
  async change(
    actor: OwnerActor,
    clientId: string,
    input: ApplicationChange,
  ): Promise<Change<ChangedApplication>> {
    refuseOthers(input, 'purpose', 'reasons');
    const { logo } = input;
    const fields = registrationFields(input);
    const checked = await checkClientChanges(fields, () => this.options.scopes().value);
    const { update, request } = await this.requests.change(actor.userId, clientId, (current, existing) => {
      const wanted = changedRegistration({ clientId, ...existing }, current, checked);
      const { now, proposed } = splitChange(current, wanted);
      refuseInvalid(reservedUris(proposed.addRedirectUris, this.options.settings));
      const content = { ...proposed, ...(logo !== undefined && { logo }) };
      if (Object.keys(content).length === 0) return { now, proposed: null };
      const { purpose, reasons } = validated(RequestDetails, detailsOf(input));
      refuseInvalid(missingReasons(proposed.addScopes, reasons));
      return { now, proposed: { ...content, purpose, reasons } };
    });
    const updated = updateEvent(await this.find(actor, clientId), update);
    const { changes = {} } = updated;
    return {
      result: { client_id: clientId, changes, request: request && requestView(request) },
      announced: this.announcer.clientsChanged(
        actor,
        [clientId],
        ...(updated.changes ? [updated] : []),
        ...(request
          ? [
              {
                type: 'client_request.submitted',
                client_id: clientId,
                detail: { request: request.id, kind: 'change' },
              } as const,
            ]
          : []),
      ),
    };
  }
}
