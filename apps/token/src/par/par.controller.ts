import { ENDPOINTS } from '#oauth/endpoints.js';
import { Controller, Header, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { addLogContext } from '#platform/logging/log-context.js';
import { readParameters } from '#oauth/read-parameters.js';
import { ClientAuthenticator } from '../client-auth/client-authenticator.service.js';
import { readCredentials } from '../client-auth/client-credentials.js';
import { DpopGuard } from '../dpop/dpop.guard.js';
import { DpopProofService } from '../dpop/dpop-proof.service.js';
import type { HttpRequest } from '../token/token-request.js';
import { ClientDto } from '../token/token.dto.js';
import { ParService } from './par.service.js';

/** RFC 9126 2.2. */
interface ParAnswer {
  readonly request_uri: string;
  /** Seconds. */
  readonly expires_in: number;
}

/** `POST /api/auth/oauth/par`: RFC 9126. A client sends the authorization request itself, and the browser only its name. */
@Controller(ENDPOINTS.par)
export class ParController {
  constructor(
    private readonly authenticator: ClientAuthenticator,
    private readonly requests: ParService,
    private readonly proofs: DpopProofService,
  ) {}

  @Post()
  @HttpCode(201)
  @Header('Pragma', 'no-cache')
  @UseGuards(DpopGuard)
  async push(@Req() { headers, body, raw, ip, proof }: HttpRequest): Promise<ParAnswer> {
    const credentials = readCredentials(headers.authorization, readParameters(ClientDto, body));
    addLogContext(raw, { client_id: credentials.clientId });
    const client = await this.authenticator.authenticate(credentials);
    const { requestUri, id, expiresIn } = await this.requests.push(
      client,
      body ?? {},
      await this.proofs.keyOf(proof),
      ip,
    );
    addLogContext(raw, { pushed_request: id });
    return { request_uri: requestUri, expires_in: expiresIn };
  }
}
