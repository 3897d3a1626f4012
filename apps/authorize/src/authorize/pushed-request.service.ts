import { Injectable, Logger } from '@nestjs/common';
import { readPushedParameters } from '#oauth/authorization/pushed-parameters.js';
import type { PushedRequest } from '#grants/pushed-request.store.js';
import { PushedRequestStore } from '#grants/pushed-request.store.js';
import type { RequestParameters } from '#oauth/authorization/request-parameters.js';
import { pushedRequestId } from '#oauth/authorization/request-uri.js';
import type { Client } from '#database/client/client.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { IncomingRequest } from './incoming-request.js';

/**
 * Opens pushed authorization requests (RFC 9126 4). What uses one up is the user's answer and not the first look at
 * it: a login on the way, a reload, the back button and whatever previews links must not break the flow.
 */
@Injectable()
export class PushedRequestService {
  private readonly logger = new Logger(PushedRequestService.name);

  constructor(private readonly store: PushedRequestStore) {}

  /**
   * The parameters that the client pushed, and their id. One script in Redis.
   *
   * @param loggedIn whether the browser is logged in: only then is the request's lifetime extended
   * @throws OAuthError that cannot be redirected: where to is in the request that is not to be had
   */
  async open(
    requestUri: string,
    client: Client,
    loggedIn: boolean,
  ): Promise<{ id: string; parameters: RequestParameters }> {
    const id = pushedRequestId(requestUri);
    if (id === null)
      throw refused('the request_uri is not one of this service', { request_uri: 'malformed' }, client);
    const found = await this.store.open(id, client.clientId, loggedIn);
    return { id, parameters: readPushedParameters(opened(found, id, client)) };
  }

  /**
   * Gives the user's answer to a request. A pushed one takes one answer of all that come at once (RFC 9126 7.3); one
   * that fails on its way, say because a database is down, is taken back, so that the user can repeat it.
   */
  async answer<T>({ pushedId: id, client }: IncomingRequest, give: () => Promise<T>): Promise<T> {
    if (id === null) return give();
    opened(await this.store.answer(id, client.clientId), id, client);
    try {
      return await give();
    } catch (error) {
      await this.store
        .reopen(id, client.clientId)
        .catch(({ message }: Error) => this.logger.warn(`an answer was not taken back: ${message}`));
      throw error;
    }
  }
}

function opened(found: PushedRequest, id: string, client: Client): string {
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
