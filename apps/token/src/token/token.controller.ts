import { ENDPOINTS } from '#oauth/endpoints.js';
import { Controller, Header, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import type { Client } from '#database/client/client.js';
import type { Granted } from '#grants/grant.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { readParameters } from '#oauth/read-parameters.js';
import { DpopGuard } from '../dpop/dpop.guard.js';
import { refreshScope } from './refresh-scope.js';
import { type HttpRequest, TokenRequest } from './token-request.js';
import { CodeDto, GrantTypeDto, RefreshTokenDto, type TokenAnswer } from './token.dto.js';
import { TokenService } from './token.service.js';

/** `POST /api/auth/oauth/token`: specification 4.2, RFC 6749 4.1.3 and 6. */
@Controller(ENDPOINTS.token)
export class TokenController {
  constructor(
    private readonly request: TokenRequest,
    private readonly tokens: TokenService,
  ) {}

  @Post()
  @HttpCode(200)
  @Header('Pragma', 'no-cache')
  @UseGuards(DpopGuard)
  async token(@Req() request: HttpRequest): Promise<TokenAnswer> {
    const grant = this.grantOf(request.body);
    return this.request.answer(request, grant);
  }

  private grantOf(body: unknown): (client: Client, jkt: string | null) => Promise<Granted> {
    switch (readParameters(GrantTypeDto, body).grant_type) {
      case 'authorization_code': {
        const code = readParameters(CodeDto, body);
        return (client, jkt) => this.tokens.exchange(client, code, jkt);
      }
      case 'refresh_token': {
        const { refresh_token: refreshToken, scope } = readParameters(RefreshTokenDto, body);
        if (refreshToken === undefined)
          throw OAuthError.invalidRequest("the parameter 'refresh_token' is missing");
        const renewal = { refreshToken, scope: refreshScope(scope) };
        return (client, jkt) => this.tokens.refresh(client, renewal, jkt);
      }
      default:
        throw OAuthError.unsupportedGrantType(
          "the parameter 'grant_type' must be authorization_code or refresh_token",
        );
    }
  }
}
