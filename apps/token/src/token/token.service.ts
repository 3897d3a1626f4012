import { Injectable } from '@nestjs/common';
import type { Client } from '#database/client/client.js';
import type { Granted, Refusal } from '#grants/grant.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { challengeOf } from '#oauth/pkce.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { refusalError } from './refusal-error.js';
import { UsageRecorder } from '../usage/usage-recorder.service.js';
import type { CodeDto } from './token.dto.js';

/** Turns codes and refresh tokens into token pairs, for a client that is authenticated by now. */
@Injectable()
export class TokenService {
  constructor(
    private readonly engine: GrantEngine,
    private readonly usage: UsageRecorder,
  ) {}

  /** RFC 6749 4.1.3. @throws OAuthError invalid_grant, or invalid_request for a verifier that is none. */
  async exchange(
    client: Client,
    { code, redirect_uri: redirectUri, code_verifier: verifier }: CodeDto,
    jkt: string | null,
  ): Promise<Granted> {
    const challenge = verifier === undefined ? null : challengeOf(verifier);
    // RFC 7636 4.1
    if (verifier !== undefined && challenge === null)
      throw OAuthError.invalidRequest(
        "the parameter 'code_verifier' must be 43 to 128 of A-Z a-z 0-9 - . _ ~",
      );
    return this.granted(
      await this.engine.redeem(code, { clientId: client.clientId, redirectUri, challenge, jkt }),
      'code',
    );
  }

  /** RFC 6749 6; both routes to a refresh end here. @throws OAuthError invalid_grant, or invalid_scope */
  async refresh(
    { clientId }: Client,
    { refreshToken, scope }: { readonly refreshToken: string; readonly scope: string | null },
    jkt: string | null,
  ): Promise<Granted> {
    return this.granted(await this.engine.refresh(refreshToken, { clientId, jkt, scope }), 'refresh token');
  }

  private granted(result: Granted | Refusal, what: 'code' | 'refresh token'): Granted {
    if (result.outcome !== 'granted') throw refusalError(result, what);
    this.usage.note(result.grantId);
    return result;
  }
}
