import { Injectable, Logger } from '@nestjs/common';
import type { Client } from '#database/client/client.js';
import { type PushedRequest, PushedRequestStore } from '#grants/pushed-request.store.js';
import { readPushedParameters, pushedRequestId } from '#oauth/pushed-request.js';
import type { Parameters } from '#oauth/parameters.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { ValidatedRequest } from '../consent/interaction.js';

/**
 * Pushed authorization requests (RFC 9126 4). The user's answer consumes one, not the first time the page is opened: a
 * login, a reload, the back button and link previews must not break the flow.
 */
@Injectable()
export class PushedRequestService {
  private readonly logger = new Logger(PushedRequestService.name);

  constructor(private readonly store: PushedRequestStore) {}

  /**
   * The parameters that the client pushed, and the id of the request. One Redis script.
   *
   * @param loggedIn whether a user is logged in, who then has time to answer
   * @throws OAuthError that is not redirected: the redirect URI is in the request that cannot be opened
   */
  async open(
    requestUri: string,
    client: Client,
    loggedIn: boolean,
  ): Promise<{ id: string; parameters: Parameters }> {
    const id = pushedRequestId(requestUri);
    if (id === null)
      throw refused('the request_uri is not one of this service', { request_uri: 'malformed' }, client);
    const found = await this.store.open(id, client.clientId, loggedIn);
    return { id, parameters: readPushedParameters(openParameters(found, id, client)) };
  }

  /** Consumes a request before it is answered; of simultaneous answers one succeeds (RFC 9126 7.3). No-op if not pushed. */
  async consume({ pushedId: id, client }: ValidatedRequest): Promise<void> {
    if (id !== null) openParameters(await this.store.answer(id, client.clientId), id, client);
  }

  /** Reopens a consumed request after its answer failed, for example because PostgreSQL is down: the user can try again. */
  async reopen({ pushedId: id, client }: ValidatedRequest): Promise<void> {
    if (id === null) return;
    await this.store
      .reopen(id, client.clientId)
      .catch(({ message }: Error) => this.logger.warn(`a pushed request was not reopened: ${message}`));
  }
}

function openParameters(found: PushedRequest, id: string, client: Client): string {
  if (found.outcome === 'open') return found.parameters;
  const description =
    found.outcome === 'answered'
      ? 'this request was answered already; to connect again, start again at the application'
      : 'this request has expired, or it is not known for this application; start again at the application';
  throw refused(description, { pushed_request: id, found: found.outcome }, client);
}

function refused(description: string, detail: Record<string, string>, { clientId }: Client): OAuthError {
  return OAuthError.invalidRequest(description, {
    detail: { check: 'request_uri', client_id: clientId, ...detail },
  });
}
