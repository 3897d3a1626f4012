import type { IncomingMessage } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import { addAuditEvent } from '#audit/request-events.js';
import { AuthorizationContextStore } from '#clients/authorization-context.store.js';
import type { Client } from '#clients/client.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { type DeviceRequest, UserCodeStore } from '#grants/user-code.store.js';
import { checkDeviceGrant } from '#oauth/device-authorization.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { checkScope, ScopeCatalogue, scopeTokens } from '#oauth/scope.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { enabledClient, testingRefusal } from '../authorize/authorization-request.service.js';
import { KnownClientError } from '../authorize/known-client.error.js';
import type { RequestedScope } from '../validated-request.js';
import { type Approval, ConsentEndedError, ConsentService } from '../consent/consent.service.js';
import { requestedScopes } from '../consent/interaction.js';
import type { SentForm } from '../session/sent-form.js';
import type { CurrentAccount } from '../session/session.service.js';

export interface PendingDevice extends DeviceRequest {
  readonly userCode: string;
  readonly client: Client;
  readonly scopes: readonly RequestedScope[];
}

export type DeviceLookup =
  | { readonly outcome: 'found'; readonly device: PendingDevice }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'refused'; readonly counter: string; readonly retryAfter: number };

@Injectable()
export class DeviceService {
  private readonly logger = new Logger(DeviceService.name);

  constructor(
    private readonly userCodes: UserCodeStore,
    private readonly engine: GrantEngine,
    private readonly contexts: AuthorizationContextStore,
    private readonly consent: ConsentService,
    private readonly catalogue: ScopeCatalogue,
  ) {}

  /**
   * Runs one Redis script, which also counts wrong codes, and one SQL query.
   * @param form the form with the decision, which finds its request again after the decision
   * @throws OAuthError if the user has decided, or if the client was deleted, was disabled or can no longer make this
   * request
   */
  async find(
    userCode: string,
    address: string,
    { user }: CurrentAccount,
    form: SentForm | null,
  ): Promise<DeviceLookup> {
    const lookup = await this.userCodes.find(userCode, address, user.id, form && form.id);
    if (lookup.outcome === 'unknown' || lookup.outcome === 'refused') return lookup;
    const { request } = lookup;
    if (lookup.outcome === 'answered') throw alreadyDecided(request);
    const context = await this.contexts.find(request.clientId, user.id);
    const client = enabledClient(context.client, request.clientId);
    const refusal = testingRefusal(client, context, user);
    if (refusal) throw new KnownClientError(refusal, client);
    const scope = this.availableScope(request, client);
    const scopes = requestedScopes({ ...request, scope }, client, context.decisions);
    return { outcome: 'found', device: { ...request, scope, userCode, client, scopes } };
  }

  /** @throws OAuthError if the request has expired or was already decided, or if the consent has ended */
  async allow(
    request: IncomingMessage,
    device: PendingDevice,
    { user }: CurrentAccount,
    approval: Approval,
    form: SentForm | null,
  ): Promise<void> {
    const approved = await this.consent.allowDevice(device, user, approval).catch((error: unknown) => {
      if (error instanceof ConsentEndedError) return false;
      throw error;
    });
    if (!approved) throw alreadyDecided(device);
    await this.recordAnswer(device, form);
    addLogContext(request, { scope: approval.scope, outcome: 'allowed' });
    addAuditEvent(request, 'consent.allowed');
  }

  /** Checks the grant type and the scope again, because the registration may have changed since the request. */
  private availableScope({ scope }: DeviceRequest, client: Client): string {
    try {
      checkDeviceGrant(client);
      return checkScope(scopeTokens(scope), client.scopes, this.catalogue);
    } catch (error) {
      throw error instanceof OAuthError ? new KnownClientError(error, client) : error;
    }
  }

  /** @throws OAuthError if the request has expired or was already decided */
  async deny(request: IncomingMessage, device: PendingDevice, form: SentForm | null): Promise<void> {
    if (!(await this.engine.deny(device.grantId, device.clientId))) throw alreadyDecided(device);
    await this.recordAnswer(device, form);
    addAuditEvent(request, 'consent.denied');
  }

  /** Only logs a failure, because a decided code has no effect until it expires. */
  private async recordAnswer(device: PendingDevice, form: SentForm | null): Promise<void> {
    await this.userCodes.answer(device.userCode, device, form && form.id).catch(({ message }: Error) => {
      this.logger.warn(`the answer to a device was not recorded at its code: ${message}`);
    });
  }
}

function alreadyDecided({ grantId, clientId }: DeviceRequest): OAuthError {
  return OAuthError.invalidRequest('device_answered', {
    detail: { client_id: clientId, grant_id: grantId },
  });
}
