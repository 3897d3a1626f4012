import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { addAuditEvent } from '#audit/request-events.js';
import type { Client, ClientWithSecrets } from '#clients/client.js';
import type { Granted, Refusal, RefusalReason } from '#grants/grant.js';
import { UnconfirmedRequestError } from '#grants/given-up.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { clientScope, isEventScope, SSF_SCOPES } from '#oauth/client-credentials.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import type { Credential, OAuthErrorCode } from '#oauth/reasons.js';
import { checkGrantType, hasKeys } from '#oauth/oauth-client.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { OPENID } from '#oauth/openid/openid-scopes.js';
import { challengeOf } from '#oauth/pkce.js';
import { checkResource, refreshScope } from '#oauth/scope.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { ClientAuthenticator } from '../client-auth/client-authenticator.js';
import type { ProvedRequest } from '../dpop/dpop.guard.js';
import { DpopProofService } from '../dpop/dpop-proof.service.js';
import { TokenConfiguration } from '../token.configuration.js';
import { UsageRecorder } from '../usage/usage-recorder.js';
import { IdTokenService } from './id-token.service.js';
import type { RefreshTokenDto, TokenResponse, TokenDto } from './token.dto.js';

const EVENTS = {
  redeemed: 'token.issued',
  refreshed: 'token.refreshed',
  retried: 'token.retried',
} as const;

/** Seconds. Section 5.3.2.1 of FAPI 2.0: "shall issue authorization codes with a maximum lifetime of 60 seconds". */
const FAPI_CODE_LIFETIME = 60;

const MAX_RETRIES = 10_000;

@Injectable()
export class TokenService {
  private readonly apis: readonly string[];
  private readonly consoleUrl: string;
  /** Empty without ID_TOKEN_KEYS. */
  private readonly eventsUrl: string;
  /** Generation of the last recorded retry, by grant. */
  private readonly retries = new LRUCache<string, number>({ max: MAX_RETRIES });

  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly proofs: DpopProofService,
    private readonly engine: GrantEngine,
    private readonly usage: UsageRecorder,
    private readonly idTokens: IdTokenService,
    configuration: TokenConfiguration,
  ) {
    this.apis = configuration.apis;
    this.consoleUrl = configuration.CONSOLE_URL;
    this.eventsUrl = configuration.signingKeys.isEmpty ? '' : configuration.BASE_URL + ENDPOINTS.events;
  }

  /**
   * Redeems an authorization code (RFC 6749 4.1.3).
   * @throws OAuthError if the client, the proof, the verifier, the code or the resource is refused, or if the client's
   * algorithm of ID tokens has no key
   */
  async exchange(request: ProvedRequest, dto: TokenDto): Promise<TokenResponse> {
    const { client, jkt, resources } = await this.checkRequest(request, dto);
    // ID_TOKEN_KEYS must contain a key for the default, RS256, unless the variable is empty.
    if (client.idTokenAlg !== null) this.idTokens.checkKey(client);
    const { clientId } = client;
    const { code, redirect_uri: redirectUri, code_verifier: verifier } = dto;
    const challenge = verifier === undefined ? null : challengeOf(verifier);
    // RFC 7636 4.1: a verifier has 43 to 128 unreserved characters.
    if (verifier !== undefined && challenge === null)
      throw OAuthError.invalidRequest('code_verifier_malformed');
    // A successful request has a verifier if and only if the authorization request had a challenge.
    addLogContext(request.raw, { pkce: challenge !== null });
    const exchange = { clientId, redirectUri, challenge, jkt, resources };
    const isFapi = client.profile === 'fapi2';
    const limited = isFapi ? { ...exchange, maxAge: FAPI_CODE_LIFETIME } : exchange;
    return this.answer(request, client, 'code', () => this.engine.redeem(code, limited));
  }

  /**
   * Answers the poll of a device, with tokens once the user has approved the request (RFC 8628 3.4, 3.5).
   * @throws OAuthError like `exchange`, or authorization_pending, slow_down, access_denied or expired_token
   */
  async poll(request: ProvedRequest, dto: TokenDto): Promise<TokenResponse> {
    const { client, jkt, resources } = await this.checkRequest(request, dto);
    if (client.idTokenAlg !== null) this.idTokens.checkKey(client);
    const poll = { clientId: client.clientId, jkt, resources };
    return this.answer(request, client, 'device code', () => this.engine.poll(dto.device_code, poll));
  }

  /**
   * Refreshes the tokens of a grant (RFC 6749 6).
   * @throws OAuthError if the client, the proof, the refresh token, the scope or the resource is refused
   */
  async refresh(request: ProvedRequest, dto: RefreshTokenDto, refreshToken: string): Promise<TokenResponse> {
    const scope = refreshScope(dto.scope);
    const { client, jkt, resources } = await this.checkRequest(request, dto);
    const { clientId, keepsRefreshToken } = client;
    const refresh = { clientId, clientHasKeys: hasKeys(client), jkt, scope, resources, keepsRefreshToken };
    return this.answer(request, client, 'refresh token', () => this.engine.refresh(refreshToken, refresh));
  }

  /**
   * Issues a token for the console's HTTP API, or for the client's event stream, to the client itself (RFC 6749 4.4.2).
   * @throws OAuthError unsupported_grant_type without a console, or if the client, the proof, the scope or the resource
   * is refused
   */
  async issue(request: ProvedRequest, dto: TokenDto): Promise<TokenResponse> {
    const isForEvents = this.eventsUrl !== '' && isEventScope(dto.scope);
    const resource = isForEvents ? this.eventsUrl : this.consoleUrl;
    if (resource === '') throw unsupportedGrantType();
    const { client, jkt } = await this.checkRequest(request, dto, [resource]);
    // API clients have no event stream.
    const isForStream = isForEvents && client.grantType !== 'client_credentials';
    const scope = clientScope(dto.scope, isForStream ? SSF_SCOPES : client.scopes);
    const { clientId, version } = client;
    const token = await this.engine.issue({ clientId, version, scope, resource, jkt });
    addLogContext(request.raw, { grant_id: token.grantId, grant_type: dto.grant_type, scope });
    addAuditEvent(request.raw, EVENTS.redeemed);
    return {
      access_token: token.accessToken,
      token_type: token.type,
      expires_in: token.expiresIn,
      scope,
    };
  }

  /** Returns the client, the proved key (RFC 9449; null without a proof) and the requested APIs (RFC 8707 2.2). */
  private async checkRequest(
    request: ProvedRequest,
    dto: TokenDto | RefreshTokenDto,
    apis = this.apis,
  ): Promise<{ client: ClientWithSecrets; jkt: string | null; resources: string | null }> {
    const client = await this.clients.authenticate(request, dto);
    checkGrantType(dto, client);
    if (client.dpopBound && !request.proof) throw needsProof(client);
    const resources = dto.resource === undefined ? null : checkResource(dto.resource, apis);
    // Consumes the proof last, so that only authenticated clients can fill Redis with proofs.
    const jkt = request.proof ? await this.proofs.consumeProof(request, client) : null;
    return { client, jkt, resources };
  }

  /** Uses a code or token. If the response cannot be created, the client can repeat the request. */
  private async answer(
    request: ProvedRequest,
    client: Client,
    credential: Credential,
    use: () => Promise<Granted | Refusal>,
  ): Promise<TokenResponse> {
    try {
      const result = await use();
      if (result.outcome !== 'granted') throw refusalError(result, credential);
      return await this.respond(request, client, result).catch(async (error: unknown) => {
        await this.engine.giveUp(result, error);
        throw error;
      });
    } catch (error) {
      throw error instanceof UnconfirmedRequestError ? unconfirmedError(error, credential) : error;
    }
  }

  private async respond({ raw }: ProvedRequest, client: Client, result: Granted): Promise<TokenResponse> {
    const { grantId, grant, pair, transition } = result;
    this.usage.recordGrant(grantId);
    addLogContext(raw, { grant_id: grantId, user_id: grant.userId, generation: grant.generation });
    if (transition !== 'retried' || this.isFirstRetry(grantId, grant.generation))
      addAuditEvent(raw, EVENTS[transition]);
    const idToken = pair.scope.split(' ').includes(OPENID)
      ? await this.idTokens.issue(raw, client, result)
      : null;
    return {
      access_token: pair.accessToken,
      refresh_token: pair.refreshToken,
      token_type: pair.type,
      expires_in: pair.expiresIn,
      scope: pair.scope,
      ...(idToken !== null && { id_token: idToken }),
    };
  }

  /** Returns true for the first retry of a generation, so that endless retries do not displace other events. */
  private isFirstRetry(grantId: string, generation: number): boolean {
    if (this.retries.get(grantId) === generation) return false;
    this.retries.set(grantId, generation);
    return true;
  }
}

/** RFC 6749 5.2: the grant type is not supported. Does not name `client_credentials`, which applications cannot use. */
export function unsupportedGrantType(): OAuthError {
  return new OAuthError('unsupported_grant_type', 400, 'unsupported_grant_type');
}

/** RFC 9449 5.2: "MUST reject token requests from the client that do not contain the DPoP header." */
function needsProof({ clientId }: Client): OAuthError {
  return new OAuthError('invalid_dpop_proof', 400, 'dpop_proof_missing', {
    detail: { client_id: clientId },
  });
}

/** OAuth error codes. The code of every other reason is invalid_grant, except for an expired device code. */
const CODES: Readonly<Partial<Record<RefusalReason, OAuthErrorCode>>> = {
  // RFC 6749 6: a refresh cannot get a scope that was not granted.
  scope_not_granted: 'invalid_scope',
  // RFC 8707 2: the API is "invalid, missing, unknown, or malformed".
  resource_exceeded: 'invalid_target',
  // RFC 8628 3.5: after the first two codes a device continues to poll.
  decision_pending: 'authorization_pending',
  polled_too_early: 'slow_down',
  decision_denied: 'access_denied',
};

/**
 * Returns the response to a request whose outcome no process can find out. It has no `Retry-After`, because a repeated
 * request may count as a replay and revoke the tokens.
 */
function unconfirmedError(cause: UnconfirmedRequestError, credential: Credential): OAuthError {
  return new OAuthError('temporarily_unavailable', 503, { id: 'request_unconfirmed', credential }, { cause });
}

/** Returns the response to a code or token that the grant engine refused. */
export function refusalError(
  { outcome, grantId, expiredAt, usedBy: _usedBy, ...compared }: Refusal,
  credential: Credential,
): OAuthError {
  const values = { ...compared, ...(expiredAt !== undefined && { expired_at: expiredAt }) };
  const isExpired = outcome === 'expired' && credential === 'device code';
  return new OAuthError(
    isExpired ? 'expired_token' : (CODES[outcome] ?? 'invalid_grant'),
    400,
    { id: outcome, credential, sent: compared.sent ?? '' },
    { detail: { grant_id: grantId, ...values } },
  );
}
