import { Inject, Injectable } from '@nestjs/common';
import type { TokenRules } from '#clients/client.js';
import { type ClientKeys, hasKeys } from '#oauth/oauth-client.js';
import {
  ASSERTION_TYPE,
  checkAssertionClaims,
  InvalidAssertionError,
  isSignedBy,
  parseAssertion,
  type UnverifiedAssertion,
} from '#oauth/client-assertion/client-assertion.js';
import { candidateKeys, type ClientJwkSet } from '#oauth/client-assertion/client-keys.js';
import { keyText } from '#error-guide/protocol-texts.js';
import { InvalidKeyError } from '#oauth/jwk.js';
import { publicUri } from '#oauth/dpop/dpop-verifier.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import type { AssertionReasons, Reason } from '#oauth/reasons.js';
import { type ErrorDetail, OAuthError } from '#oauth/oauth-error.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { TokenConfiguration } from '../token.configuration.js';
import { AssertionStore } from './assertion.store.js';
import { RemoteClientKeysService } from './remote-client-keys.service.js';

/** The response is the same for an unknown client, an unknown key and a wrong signature. */

const MAX_SHOWN_KID = 100;

interface AssertionParameters {
  readonly client_id?: string;
  readonly client_assertion?: string;
  readonly client_assertion_type?: string;
}

/** Authenticates clients and resource servers by an assertion (RFC 7521 4.2, RFC 7523 3). */
@Injectable()
export class ClientAssertionService {
  constructor(
    private readonly configuration: TokenConfiguration,
    private readonly remote: RemoteClientKeysService,
    private readonly store: AssertionStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Checks the claims, then the signature, and consumes the assertion last.
   * @param owner null for an unknown client or resource server
   * @throws OAuthError invalid_client or temporarily_unavailable; DependencyUnavailableError
   */
  async verify<Owner extends ClientKeys & { readonly profile?: TokenRules['profile'] }>(
    assertion: UnverifiedAssertion,
    owner: Owner | null,
    path = '/',
  ): Promise<Owner> {
    const { clientId } = assertion;
    if (!owner) throw refused(clientId, 'client_unknown.assertion');
    if (!hasKeys(owner)) throw refused(clientId, 'client_assertion_unexpected');
    const { BASE_URL, CLOCK_SKEW: clockSkew } = this.configuration;
    const isFapi = owner.profile === 'fapi2';
    const endpoints = [BASE_URL + ENDPOINTS.token, publicUri(BASE_URL, path)];
    const audiences = isFapi ? [BASE_URL] : [...new Set([BASE_URL, ...endpoints])];
    const now = this.clock();
    const claims = withInvalidClient(clientId, () =>
      checkAssertionClaims(assertion, { audiences, now, clockSkew, isFapi }),
    );
    await this.verifySignature(assertion, owner);
    const consumed = await this.store.consume(clientId, claims.jti, claims.expiresAt - now);
    if (consumed.outcome === 'consumed') return owner;
    if (consumed.outcome === 'full')
      throw OAuthError.tooManyRequests(
        { id: 'client_assertion_limit_exceeded', retryAfter: consumed.retryAfter },
        { client_id: clientId },
      );
    throw refused(clientId, 'client_assertion_replayed');
  }

  private async verifySignature(
    assertion: UnverifiedAssertion,
    { jwks, jwksUri }: ClientKeys,
  ): Promise<void> {
    const { clientId } = assertion;
    let hasCandidate = false;
    const verifies = (keys: ClientJwkSet): Promise<boolean> => {
      const candidates = candidateKeys(keys, assertion);
      hasCandidate ||= candidates.length > 0;
      return isSignedBy(assertion, candidates);
    };
    const verified =
      jwksUri === null
        ? await verifies(jwks ?? { keys: [] })
        : await this.remote.tryKeys(jwksUri, verifies).catch((error: unknown) => {
            throw this.remote.isFailure(error) ? unfetchable(clientId, error) : error;
          });
    if (verified) return;
    if (hasCandidate) throw refused(clientId, 'client_assertion_signature_mismatch');
    throw refused(clientId, 'client_assertion_key_unknown', {
      sent: keyNameOf(assertion),
      ...(jwks && { registered: jwks.keys.map(keyNameOf) }),
    });
  }
}

/**
 * Reads the assertion of a request (RFC 7521 4.2).
 * @throws OAuthError invalid_client, or invalid_request if `client_id` names another client
 */
export function readAssertion({
  client_id: clientId,
  client_assertion: jwt,
  client_assertion_type: type,
}: AssertionParameters): UnverifiedAssertion {
  if (jwt === undefined || type !== ASSERTION_TYPE)
    throw refused(clientId, 'client_assertion_type_unsupported');
  const assertion = withInvalidClient(clientId, () => parseAssertion(jwt));
  // RFC 7521 4.2: the client_id "MUST identify the same client as is identified by the client assertion."
  if (clientId !== undefined && clientId !== assertion.clientId)
    throw OAuthError.invalidRequest('client_id_mismatch.assertion', { detail: { client_id: clientId } });
  return assertion;
}

function withInvalidClient<T>(clientId: string | undefined, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof InvalidAssertionError)) throw error;
    throw refused(clientId, error.reason, error.compared);
  }
}

function refused(
  clientId: string | undefined,
  reason: Reason<AssertionReasons> | 'client_unknown.assertion',
  compared: ErrorDetail = {},
): OAuthError {
  return OAuthError.invalidClient(reason, { detail: { client_id: clientId, ...compared } });
}

function keyNameOf({
  kid,
  alg,
}: {
  readonly kid?: string | null | undefined;
  readonly alg?: string | undefined;
}): string {
  return `${kid?.slice(0, MAX_SHOWN_KID) ?? 'no kid'}${alg === undefined ? '' : ` (${alg})`}`;
}

function unfetchable(clientId: string, error: Error): OAuthError {
  const reason = error instanceof InvalidKeyError ? `the set ${keyText(error.problem)}` : error.message;
  return refused(clientId, 'client_keys_unavailable', { reason });
}
