import { ENDPOINTS } from '#oauth/endpoints.js';
import { Controller, Header, HttpCode, Inject, Post, Req } from '@nestjs/common';
import { GrantEngine } from '#grants/grant-engine.js';
import { addLogContext } from '#platform/logging/log-context.js';
import { readParameters } from '#oauth/read-parameters.js';
import { readCredentials } from '../client-auth/client-credentials.js';
import { TokenDto } from '../revocation/revoke.dto.js';
import { TokenConfiguration } from '../token.configuration.js';
import type { HttpRequest } from '../token/token-request.js';
import { ClientDto } from '../token/token.dto.js';
import { ResourceServerAuthenticator } from '../client-auth/resource-server-authenticator.service.js';

/** `POST /api/auth/oauth/introspect`: RFC 7662, for resource servers that cannot use the introspection library. */
@Controller(ENDPOINTS.introspect)
export class IntrospectionController {
  constructor(
    private readonly authenticator: ResourceServerAuthenticator,
    private readonly engine: GrantEngine,
    @Inject(TokenConfiguration) private readonly configuration: TokenConfiguration,
  ) {}

  @Post()
  @HttpCode(200)
  @Header('Pragma', 'no-cache')
  async introspect(@Req() { headers, body, raw }: HttpRequest): Promise<object> {
    const { token: text } = readParameters(TokenDto, body);
    const credentials = readCredentials(headers.authorization, readParameters(ClientDto, body));
    const server = await this.authenticator.authenticate(credentials);
    const result = await this.engine.introspectWithoutProof(text);
    addLogContext(raw, { resource_server: server.id, grant_id: result.grantId, outcome: result.outcome });
    // 2.2: nothing but `active: false` for whatever is not good, so that nobody can probe. A refresh token is not
    // good at an API: one that looks at `active` alone would take it for 90 days.
    if (result.outcome !== 'active' || result.token.kind !== 'access') return { active: false };
    const { token, grant } = result;
    return {
      active: true,
      iss: this.configuration.BASE_URL,
      client_id: grant.clientId,
      sub: String(grant.userId),
      scope: result.scope,
      exp: token.expiry,
      token_type: token.jkt === null ? 'Bearer' : 'DPoP',
      // RFC 9449 6.2: the resource server must see a proof by this key
      ...(token.jkt !== null && { cnf: { jkt: token.jkt } }),
    };
  }
}
