import { ENDPOINTS } from '#oauth/endpoints.js';
import { Controller, Header, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { OAuthError } from '#oauth/oauth-error.js';
import { readParameters } from '#oauth/read-parameters.js';
import { DpopGuard } from '../dpop/dpop.guard.js';
import { type HttpRequest, TokenRequest } from './token-request.js';
import { GrantTypeDto, LIMITS, RefreshTokenDto, type TokenAnswer } from './token.dto.js';
import { TokenService } from './token.service.js';
import { refreshScope } from './refresh-scope.js';
import { type BearerRefreshRequest, RefreshTokenGuard } from './refresh-token.guard.js';

/** `POST /api/auth/oauth/refreshToken`: specification 4.3. The refresh token comes as Bearer, or in the body. */
@Controller(ENDPOINTS.refreshToken)
export class RefreshController {
  constructor(
    private readonly request: TokenRequest,
    private readonly tokens: TokenService,
  ) {}

  @Post()
  @HttpCode(200)
  @Header('Pragma', 'no-cache')
  @UseGuards(DpopGuard, RefreshTokenGuard)
  async refresh(@Req() request: HttpRequest & BearerRefreshRequest): Promise<TokenAnswer> {
    if (readParameters(GrantTypeDto, request.body).grant_type !== 'refresh_token') {
      throw OAuthError.unsupportedGrantType("the parameter 'grant_type' must be refresh_token");
    }
    const { refresh_token: token, scope } = readParameters(RefreshTokenDto, request.body);
    const renewal = { refreshToken: one(request.bearer, token), scope: refreshScope(scope) };
    return this.request.answer(request, (client, jkt) => this.tokens.refresh(client, renewal, jkt));
  }
}

/** RFC 6750 2: a token is sent by one method in a request. */
function one(bearer: string | undefined, body: string | undefined): string {
  const token = bearer ?? body;
  if (token === undefined)
    throw OAuthError.invalidRequest(
      'the refresh token is missing: send it as Authorization: Bearer <refresh token>, or as refresh_token in the body',
    );
  if (bearer !== undefined && body !== undefined)
    throw OAuthError.invalidRequest(
      'the refresh token was sent twice: in the Authorization header and in the body',
    );
  if (token.length > LIMITS.token)
    throw OAuthError.invalidRequest(`the refresh token is longer than ${LIMITS.token} characters`);
  return token;
}
