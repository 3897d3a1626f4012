import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { ApiOperation } from '#openapi/operation.js';
import { sendDocument, serveDocument, type ServedDocument } from '#openapi/serve-document.js';
import { JWKS_OPERATION } from './metadata.openapi.js';

/** Public keys of ID tokens and logout tokens (RFC 7517 5). */
@Controller(ENDPOINTS.jwks)
export class JwksController {
  private readonly keySet: ServedDocument;

  constructor(private readonly keys: SigningKeys) {
    this.keySet = serveDocument(keys.jwks, {});
  }

  @Get()
  @ApiOperation(JWKS_OPERATION)
  jwks(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    requireOpenId(this.keys);
    sendDocument(request, reply, this.keySet);
  }
}

/** @throws OAuthError not_found without ID_TOKEN_KEYS */
export function requireOpenId(keys: SigningKeys): void {
  if (keys.isEmpty) throw new OAuthError('not_found', 404, 'this service is not an OpenID provider');
}
