import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { type SealHeaderReply, type SealHeaderRequest, SUBJECTS } from '#messaging/contract.js';
import { HeaderSeal } from './header-seal.js';

/** Encrypts headers for operators, whose processes do not have the key. */
@Controller()
export class HeaderResponder {
  constructor(private readonly seal: HeaderSeal) {}

  @MessagePattern(SUBJECTS.sealHeader)
  sealHeader(
    @Payload() { client_id: clientId, endpoint_url: endpointUrl, header }: SealHeaderRequest,
  ): SealHeaderReply {
    return { sealed: this.seal.seal(header, { clientId, endpointUrl }).toString('base64') };
  }
}
