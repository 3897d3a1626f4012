import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { ClientDocumentsService } from '#clients/documents/client-documents.service.js';
import { ClientStore } from '#clients/client.store.js';
import type { ClientWithHashes, ClientWithSecrets } from '#clients/client.js';
import { hasKeys, isClientId, isDocumentUrl, matchClientSecret } from '#oauth/oauth-client.js';
import { tagOf } from '#messaging/contract.js';
import type { UnverifiedAssertion } from '#oauth/client-assertion/client-assertion.js';
import type { Reason } from '#oauth/reasons.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { type Parameters, readDto } from '#oauth/parameters.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { addLogContext } from '#platform/logging/request-log.js';
import { NatsConnection } from '#messaging/nats.connection.js';
import { InvalidatedCache } from '#messaging/invalidated-cache.js';
import { countLookups, Metrics } from '#platform/telemetry/metrics.js';
import { UsageRecorder } from '../usage/usage-recorder.js';
import { ClientDto } from './client-credentials.dto.js';
import { ClientAssertionService, readAssertion } from './client-assertion.service.js';

export interface ClientRequest {
  readonly headers: { readonly authorization?: string };
  readonly raw: IncomingMessage;
}

const CACHED_MS = 30_000;
const CACHED_CLIENTS = 10_000;

/** Authenticates clients (RFC 6749 3.2.1). Caches a client for CACHED_MS, or until the client changes. */
@Injectable()
export class ClientAuthenticator {
  private readonly clients: InvalidatedCache<ClientWithHashes | null>;

  constructor(
    store: ClientStore,
    connection: NatsConnection,
    metrics: Metrics,
    private readonly usage: UsageRecorder,
    private readonly assertions: ClientAssertionService,
    private readonly documents: ClientDocumentsService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.clients = new InvalidatedCache<ClientWithHashes | null>(connection.broadcasts, {
      max: CACHED_CLIENTS,
      fetch: (clientId) => store.findWithHashes(clientId),
      tags: (_client, clientId) => [tagOf.client(clientId)],
      // An unknown client whose id is a document URL is not cached, because it may be admitted at any time.
      ttl: (client, clientId) => (client === null && isDocumentUrl(clientId) ? 0 : CACHED_MS),
    });
    this.clients.observe(countLookups(metrics, 'clients'));
  }

  /** Returns a client from the cache or from PostgreSQL, even a disabled client. */
  async find(clientId: string): Promise<ClientWithHashes | null> {
    return isClientId(clientId) ? this.clients.get(clientId) : null;
  }

  /**
   * Fetches a due metadata document first, because the document may contain new keys.
   * @param admits true to admit a new client
   */
  private async findCurrent(clientId: string, admits: boolean): Promise<ClientWithHashes | null> {
    const client = await this.find(clientId);
    const hasDocument = client ? client.document !== null : admits && isDocumentUrl(clientId);
    if (!hasDocument || !(await this.documents.update(clientId, client))) return client;
    this.clients.evict(tagOf.client(clientId));
    return this.find(clientId);
  }

  /**
   * @param options `admits` is true at endpoints that begin a flow, to admit new clients of CLIENT_METADATA_HOSTS
   * @throws OAuthError; an unknown client and a wrong secret or signature cause the same response
   */
  async authenticate(
    { headers, raw }: ClientRequest,
    body: ClientDto,
    { admits = false } = {},
  ): Promise<ClientWithSecrets> {
    const credentials = readCredentials(headers.authorization, body);
    const { clientId, assertion } = credentials;
    addLogContext(raw, { client_id: clientId });
    const known = await this.findCurrent(clientId, admits);
    const client = assertion
      ? await this.assertions.verify(assertion, known, raw.url)
      : this.checkSecret(known, credentials);
    // Checked last, so that a client with credentials learns only after authentication that it is disabled.
    if (client.disabledAt !== null) throw invalidClient(credentials, 'client_disabled');
    return client;
  }

  private checkSecret(client: ClientWithHashes | null, credentials: ClientCredentials): ClientWithSecrets {
    const { clientSecret } = credentials;
    if (!client) throw invalidClient(credentials, 'client_unknown');
    if (hasKeys(client)) throw needsAssertion(credentials);
    const isPublic = client.type === 'public';
    if (isPublic && clientSecret === undefined) return client;
    if (isPublic) throw invalidClient(credentials, 'client_secret_unexpected');
    if (clientSecret === undefined) throw invalidClient(credentials, 'client_secret_missing');
    const secretId = matchClientSecret(clientSecret, client.secrets);
    if (secretId === null) throw invalidClient(credentials, 'client_secret_mismatch');
    const { expiresAt = null } = client.secrets.find(({ id }) => id === secretId) ?? {};
    if (expiresAt !== null && expiresAt.getTime() <= this.clock())
      throw invalidClient(credentials, 'client_secret_expired');
    // The operator can see whether the older of two secrets is still in use.
    this.usage.recordSecret(secretId);
    return client;
  }
}

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly assertion?: UnverifiedAssertion;
  /** An error response to Basic credentials must contain WWW-Authenticate (RFC 6749 5.2). */
  readonly method: 'basic' | 'body';
}

const BASIC_CHALLENGE = { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' };

/**
 * RFC 6749 2.3: a client must not use more than one method in a request.
 * @throws OAuthError invalid_request, invalid_client
 */
export function readCredentials(authorization: string | undefined, body: ClientDto): ClientCredentials {
  const basic = authorization === undefined ? null : /^basic(?: +(.*))?$/i.exec(authorization);
  const methods = [basic, body.client_secret, body.client_assertion ?? body.client_assertion_type];
  if (methods.filter((method) => method !== null && method !== undefined).length > 1)
    throw OAuthError.invalidRequest('client_authentication_ambiguous');
  if (body.client_assertion !== undefined || body.client_assertion_type !== undefined)
    return byAssertion(readAssertion(body));
  if (!basic) {
    if (body.client_id === undefined) throw OAuthError.invalidRequest('client_id_missing');
    return { clientId: body.client_id, clientSecret: body.client_secret, method: 'body' };
  }
  const [clientId, clientSecret] = readBasic(basic[1] ?? '');
  if (body.client_id !== undefined && body.client_id !== clientId) {
    throw OAuthError.invalidRequest('client_id_mismatch.basic', { detail: { client_id: clientId } });
  }
  return { clientId, clientSecret, method: 'basic' };
}

export function unverifiedClientId(
  authorization: string | undefined,
  parameters: Parameters | undefined,
): string | undefined {
  try {
    return readCredentials(authorization, readDto(ClientDto, parameters)).clientId;
  } catch {
    return undefined;
  }
}

function byAssertion(assertion: UnverifiedAssertion): ClientCredentials {
  return { clientId: assertion.clientId, clientSecret: undefined, assertion, method: 'body' };
}

export function invalidClient({ clientId, method }: ClientCredentials, reason: Reason): OAuthError {
  return OAuthError.invalidClient(reason, {
    detail: { client_id: clientId },
    headers: method === 'basic' ? BASIC_CHALLENGE : {},
  });
}

/** Returns the error for a client with keys that sends no assertion. */
export function needsAssertion(credentials: ClientCredentials): OAuthError {
  const isMissing = credentials.clientSecret === undefined;
  return invalidClient(credentials, isMissing ? 'client_assertion_missing' : 'client_secret_forbidden');
}

/** RFC 6749 2.3.1: id and secret are form-encoded, then joined by a colon (RFC 7617). */
function readBasic(encoded: string): [id: string, secret: string | undefined] {
  const [id = '', ...rest] = /^[A-Za-z0-9+/_-]+=*$/.test(encoded)
    ? Buffer.from(encoded, 'base64').toString('utf8').split(':')
    : [];
  try {
    const [clientId = '', clientSecret = ''] = [id, rest.join(':')].map((part) =>
      decodeURIComponent(part.replaceAll('+', ' ')),
    );
    if (clientId !== '' && rest.length > 0) return [clientId, clientSecret === '' ? undefined : clientSecret];
  } catch {
    // The text is not percent-encoded UTF-8.
  }
  throw OAuthError.invalidClient('basic_credentials_malformed', { headers: BASIC_CHALLENGE });
}
