import { Body, Controller, Header, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { ApiOperation } from '#openapi/operation.js';
import { ClientAuthenticator } from '../client-auth/client-authenticator.js';
import { DpopGuard, type ProvedRequest } from '../dpop/dpop.guard.js';
import { DpopProofService } from '../dpop/dpop-proof.service.js';
import { ParametersPipe } from '../parameters.pipe.js';
import { DeviceAuthorizationDto, type DeviceAuthorizationResponse } from './device-authorization.dto.js';
import { DEVICE_OPERATION } from './device-authorization.openapi.js';
import { DeviceAuthorizationService } from './device-authorization.service.js';

@Controller(ENDPOINTS.deviceAuthorization)
export class DeviceAuthorizationController {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly devices: DeviceAuthorizationService,
    private readonly proofs: DpopProofService,
  ) {}

  @Post()
  @ApiOperation(DEVICE_OPERATION)
  @HttpCode(200)
  @Header('Pragma', 'no-cache')
  @UseGuards(DpopGuard)
  async authorize(
    @Body(ParametersPipe) dto: DeviceAuthorizationDto,
    @Req() request: ProvedRequest,
  ): Promise<DeviceAuthorizationResponse> {
    const client = await this.clients.authenticate(request, dto);
    const jkt = await this.proofs.consumeProof(request, client);
    return this.devices.start(request, client, dto, jkt);
  }
}
