import { Body, Controller, Header, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { LIMITS } from '#oauth/parameters.js';
import { ApiOperation } from '#openapi/operation.js';
import { ParametersPipe } from '../parameters.pipe.js';
import { DpopGuard, type ProvedRequest } from '../dpop/dpop.guard.js';
import { type BearerRequest, RefreshTokenGuard } from './refresh-token.guard.js';
import { REFRESH_OPERATION, TOKEN_OPERATION } from './token.openapi.js';
import { RefreshTokenDto, type TokenResponse, TokenDto } from './token.dto.js';
import { TokenService, unsupportedGrantType } from './token.service.js';

@Controller()
@UseGuards(DpopGuard)
export class TokenController {
  constructor(private readonly tokens: TokenService) {}

  /** RFC 6749 6: standard libraries also refresh at this endpoint. */
  @Post(ENDPOINTS.token)
  @ApiOperation(TOKEN_OPERATION)
  @HttpCode(200)
  @Header('Pragma', 'no-cache')
  async token(@Body(ParametersPipe) dto: TokenDto, @Req() request: ProvedRequest): Promise<TokenResponse> {
    switch (dto.grant_type) {
      case 'authorization_code':
        return this.tokens.exchange(request, dto);
      case 'refresh_token':
        return this.tokens.refresh(request, dto, dto.refresh_token);
      case DEVICE_CODE:
        return this.tokens.poll(request, dto);
      case 'client_credentials':
        return this.tokens.issue(request, dto);
      default:
        throw unsupportedGrantType();
    }
  }

  /** docs/specification.md: the refresh token is sent as Bearer or in the body. */
  @Post(ENDPOINTS.refreshToken)
  @ApiOperation(REFRESH_OPERATION)
  @HttpCode(200)
  @Header('Pragma', 'no-cache')
  @UseGuards(RefreshTokenGuard)
  async refreshToken(
    @Body(ParametersPipe) dto: RefreshTokenDto,
    @Req() request: ProvedRequest & BearerRequest,
  ): Promise<TokenResponse> {
    if (dto.grant_type !== 'refresh_token')
      throw new OAuthError('unsupported_grant_type', 400, 'unsupported_grant_type.refresh_token_only');
    return this.tokens.refresh(request, dto, refreshTokenOf(request, dto));
  }
}

/** RFC 6750 2: a request must not send a token by more than one method. */
function refreshTokenOf({ bearer }: BearerRequest, { refresh_token: inBody }: RefreshTokenDto): string {
  const token = bearer ?? inBody;
  if (token === undefined) throw OAuthError.invalidRequest('refresh_token_missing');
  if (bearer !== undefined && inBody !== undefined) throw OAuthError.invalidRequest('refresh_token_repeated');
  if (token.length > LIMITS.token)
    throw OAuthError.invalidRequest(
      { id: 'parameter_invalid.refresh_token_too_long', max: LIMITS.token },
      { detail: { parameter: 'refresh_token', length: token.length } },
    );
  return token;
}
