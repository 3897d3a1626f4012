import { Injectable, Logger } from '@nestjs/common';
import type { Client } from '#clients/client.js';
import { type PushedRequest, PushedRequestStore } from '#grants/pushed-request.store.js';
import { readPushedParameters, pushedRequestId } from '#oauth/pushed-request.js';
import type { Parameters } from '#oauth/parameters.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { Reason } from '#oauth/reasons.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import type { SentForm } from '../session/sent-form.js';
import type { ValidatedRequest } from '../validated-request.js';

/** Pushed requests (RFC 9126 4). Approval and denial consume a request; logins, reloads and errors do not. */
@Injectable()
export class PushedRequestService {
  private readonly logger = new Logger(PushedRequestService.name);

  constructor(
    private readonly store: PushedRequestStore,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /**
   * @param loggedIn if true, extends the validity of the request, so that the user has time to decide
   * @throws OAuthError, which is not redirected
   */
  async open(
    requestUri: string,
    client: Client,
    loggedIn: boolean,
    form: SentForm | null,
  ): Promise<{ id: string; parameters: Parameters }> {
    const id = pushedRequestId(requestUri);
    if (id === null)
      throw invalidRequestUri('request_uri_invalid.unknown', { request_uri: 'malformed' }, client);
    const pushed = await this.store.open(id, client.clientId, loggedIn, form && form.id);
    return { id, parameters: readPushedParameters(openParameters(pushed, id, client)) };
  }

  /**
   * Consumes a pushed request, so that only one of several concurrent forms gets a response. RFC 9126 4: the server
   * "MAY allow for duplicate requests due to a user reloading/refreshing their user agent".
   */
  async consume({ pushedId: id, client }: ValidatedRequest, form: SentForm | null): Promise<void> {
    if (id === null) return;
    const { CODE_LIFETIME } = this.configuration;
    openParameters(await this.store.answer(id, client.clientId, form && form.id, CODE_LIFETIME), id, client);
  }

  /** @throws OAuthError for a pushed request, whose only answer has been used */
  rejectAnswered({ pushedId: id, client }: ValidatedRequest): void {
    if (id !== null) openParameters({ outcome: 'answered' }, id, client);
  }

  /** Reopens a request after its response failed, for example in a PostgreSQL outage, so that the user can retry. */
  async reopen({ pushedId: id, client }: ValidatedRequest): Promise<void> {
    if (id === null) return;
    await this.store
      .reopen(id, client.clientId)
      .catch(({ message }: Error) => this.logger.warn(`could not reopen a pushed request: ${message}`));
  }
}

function openParameters(pushed: PushedRequest, id: string, client: Client): string {
  if (pushed.outcome === 'open') return pushed.parameters;
  const reason =
    pushed.outcome === 'answered' ? 'request_uri_invalid.answered' : 'request_uri_invalid.expired';
  throw invalidRequestUri(reason, { pushed_request: id, found: pushed.outcome }, client);
}

function invalidRequestUri(
  reason: Extract<Reason, `request_uri_invalid.${string}`>,
  detail: Record<string, string>,
  { clientId }: Client,
): OAuthError {
  return OAuthError.invalidRequest(reason, { detail: { client_id: clientId, ...detail } });
}
