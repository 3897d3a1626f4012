import { Body, Controller, Header, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { type Parameters } from '#oauth/parameters.js';
import { ApiOperation } from '#openapi/operation.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { ClientAuthenticator } from '../client-auth/client-authenticator.js';
import { ClientDto } from '../client-auth/client-credentials.dto.js';
import { ParametersPipe } from '../parameters.pipe.js';
import { DpopGuard, type ProvedRequest } from '../dpop/dpop.guard.js';
import { DpopProofService } from '../dpop/dpop-proof.service.js';
import { PAR_OPERATION, type ParResponse } from './par.openapi.js';
import { ParService } from './par.service.js';

/** RFC 9126: the client sends the authorization request, and the browser sends only a reference to the request. */
@Controller(ENDPOINTS.par)
export class ParController {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly requests: ParService,
    private readonly proofs: DpopProofService,
  ) {}

  @Post()
  @ApiOperation(PAR_OPERATION)
  @HttpCode(201)
  @Header('Pragma', 'no-cache')
  @UseGuards(DpopGuard)
  async push(
    @Body(ParametersPipe) credentials: ClientDto,
    @Body() parameters: Parameters | undefined,
    @Req() request: ProvedRequest,
  ): Promise<ParResponse> {
    const client = await this.clients.authenticate(request, credentials, { admits: true });
    const jkt = await this.proofs.consumeProof(request, client);
    const { requestUri, id, expiresIn } = await this.requests.push(client, parameters ?? {}, jkt, request.ip);
    addLogContext(request.raw, { pushed_request: id });
    return { request_uri: requestUri, expires_in: expiresIn };
  }
}
