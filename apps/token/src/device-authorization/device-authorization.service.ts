import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { ClientWithSecrets } from '#clients/client.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { UserCodeStore } from '#grants/user-code.store.js';
import {
  checkDeviceGrant,
  DEVICE_CODE_LIFETIME,
  displayedUserCode,
  POLL_INTERVAL,
} from '#oauth/device-authorization.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { checkResource, checkScope, ScopeCatalogue, scopeTokens } from '#oauth/scope.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { canonicalAddress } from '#platform/http/client-address.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { TokenConfiguration } from '../token.configuration.js';
import type { DeviceAuthorizationDto, DeviceAuthorizationResponse } from './device-authorization.dto.js';

@Injectable()
export class DeviceAuthorizationService {
  constructor(
    private readonly issuer: TokenIssuer,
    private readonly engine: GrantEngine,
    private readonly userCodes: UserCodeStore,
    private readonly scopes: ScopeCatalogue,
    private readonly configuration: TokenConfiguration,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Returns a device code and a user code (RFC 8628 3.2).
   * @throws OAuthError unauthorized_client, invalid_scope or invalid_target, or with status 429
   */
  async start(
    { raw, ip }: { readonly raw: IncomingMessage; readonly ip: string },
    client: ClientWithSecrets,
    dto: DeviceAuthorizationDto,
    jkt: string | null,
  ): Promise<DeviceAuthorizationResponse> {
    checkDeviceGrant(client);
    const { clientId, type } = client;
    const scope = checkScope(scopeTokens(dto.scope ?? ''), client.scopes, this.scopes);
    const { AUTH_URL, apis } = this.configuration;
    const resources = dto.resource === undefined ? null : checkResource(dto.resource, apis);
    const { code, grantId } = this.issuer.deviceCode(this.clock());
    const address = canonicalAddress(ip) ?? null;
    addLogContext(raw, { grant_id: grantId, scope });
    const created = await this.userCodes.create({ grantId, clientId, scope, resources, address }, type);
    if (created.outcome === 'refused') {
      const { counter, retryAfter } = created;
      throw OAuthError.tooManyRequests({ id: 'device_limit_exceeded', retryAfter }, { counter });
    }
    await this.engine.request(grantId, clientId, jkt);
    const userCode = displayedUserCode(created.userCode);
    const page = AUTH_URL + ENDPOINTS.device;
    return {
      device_code: code,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: DEVICE_CODE_LIFETIME,
      interval: POLL_INTERVAL,
    };
  }
}
