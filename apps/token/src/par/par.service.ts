import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { checkAuthorizationRequest } from '#oauth/authorization-request.js';
import { checkRequestObject } from '#oauth/openid/authentication-request.js';
import { type Parameters, readParameter } from '#oauth/parameters.js';
import { writePushedParameters, generateRequestUri, pushedRequestId } from '#oauth/pushed-request.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { type PushLimit, type PushRefusal, PushedRequestStore } from '#grants/pushed-request.store.js';
import type { Client } from '#clients/client.js';
import { KeyRing } from '#keys/key-ring.js';
import { addressNetwork, addressSite } from '#platform/http/client-address.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { TokenConfiguration } from '../token.configuration.js';

export interface Pushed {
  readonly requestUri: string;
  readonly id: string;
  readonly expiresIn: number;
}

/**
 * Limits of pushed requests, each of 1 KB to 8 KB. If logins take two minutes, a confidential client can push 400
 * requests per second, and a public client 80.
 */
export const PUSH_LIMITS = {
  /**
   * For each confidential client, whose secret the operator can revoke. Addresses are not limited, because the servers
   * of a client share few addresses.
   */
  confidential: 50_000,
  /** For each public client. Anyone can push as a public client, because it has no secret. */
  public: 10_000,
  /** Pushes for public clients per address (IPv6: per /64) in ten minutes. An office can log in 30 times a minute. */
  address: 300,
  /** Per IPv6 /48. Without this limit, 34 of its 65,536 /64 networks could block a public client for all users. */
  site: 1_000,
} as const;

@Injectable()
export class ParService {
  private readonly key: Buffer;

  constructor(
    private readonly store: PushedRequestStore,
    private readonly configuration: TokenConfiguration,
    private readonly scopes: ScopeCatalogue,
    keys: KeyRing,
  ) {
    this.key = keys.signingKeyFor('throttle');
  }

  /**
   * Stores a pushed request (RFC 9126 2.1).
   * @throws OAuthError from the checks of the authorization endpoint, for a `request_uri`, or with status 429
   */
  async push(client: Client, body: Parameters, jkt: string | null, address: string): Promise<Pushed> {
    const parameters = withProvenKey(body, jkt);
    // RFC 9126 2.1: "The request_uri authorization request parameter is one exception, and it MUST NOT be provided."
    if (readParameter(parameters, 'request_uri') !== undefined)
      throw OAuthError.invalidRequest('request_uri_invalid.pushed');
    // Without this, a request that has its parameters only in the object would lack a redirect_uri.
    checkRequestObject(parameters);
    const { scopes } = this;
    const request = checkAuthorizationRequest(parameters, client, { scopes, apis: this.configuration.apis });
    const requestUri = generateRequestUri();
    const id = pushedRequestId(requestUri);
    if (id === null) throw new Error('generateRequestUri returned a URI that pushedRequestId rejects');
    const { clientId } = client;
    const expiresIn = this.configuration.PAR_LIFETIME;
    const pushed = { id, clientId, parameters: writePushedParameters(request), lifetime: expiresIn };
    const refusal = await this.store.push(pushed, this.limits(client, address));
    if (refusal) throw tooManyRequests(refusal);
    return { requestUri, id, expiresIn };
  }

  private limits({ clientId, type }: Client, address: string): PushLimit[] {
    const ofClient = { counter: 'client', key: clientId, max: PUSH_LIMITS[type] } as const;
    if (type === 'confidential') return [ofClient];
    const [network, site] = [addressNetwork(address), addressSite(address)];
    const ofNetwork = { counter: 'address', key: this.hashed(network), max: PUSH_LIMITS.address } as const;
    if (site === network) return [ofClient, ofNetwork];
    return [ofClient, ofNetwork, { counter: 'site', key: this.hashed(site), max: PUSH_LIMITS.site }];
  }

  /** Hashes a network, because Redis must not hold plain addresses. */
  private hashed(network: string): string {
    return createHmac('sha256', this.key).update(`par:${network}`).digest('base64url');
  }
}

/** RFC 9126 2.3: "the authorization server responds with an HTTP 429 (Too Many Requests) status code" */
function tooManyRequests({ counter, retryAfter }: PushRefusal): OAuthError {
  return OAuthError.tooManyRequests({ id: 'push_limit_exceeded', counter, retryAfter }, { counter });
}

/** RFC 9449 10.1: a proof counts as dpop_jkt. A dpop_jkt in the same request must name the key of the proof. */
function withProvenKey(body: Parameters, jkt: string | null): Parameters {
  if (jkt === null) return body;
  const requested = body['dpop_jkt'];
  if (requested !== undefined && requested !== jkt)
    throw OAuthError.invalidRequest('dpop_jkt_invalid.other_key', { detail: { proved: jkt } });
  return { ...body, dpop_jkt: jkt };
}
