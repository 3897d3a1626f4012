import { Injectable } from '@nestjs/common';
import { AuthorizationContextStore } from '#clients/authorization-context.store.js';
import type { Client } from '#clients/client.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { sessionIdFor, subjectOf } from '#oauth/openid/id-token.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { parseQuery, readParameter } from '#oauth/parameters.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { enabledClient } from '../authorize/authorization-request.service.js';
import { KnownClientError } from '../authorize/known-client.error.js';
import type { CurrentAccount } from '../session/session.service.js';
import { addQuery } from '../urls.js';

export interface EndSessionRequest {
  /** Null if the request names no application. */
  readonly client: Client | null;
  /** Claims of the ID token; null without an ID token. */
  readonly hint: Readonly<Record<string, unknown>> | null;
  readonly returnTo: {
    /** URI that the client has registered. */
    readonly uri: string;
    readonly state: string | null;
  } | null;
  readonly uiLocales: string | null;
  /** Failed check of the request, which then has no hint and no returnTo. */
  readonly refused: OAuthError | null;
}

/**
 * Validates end-session requests (section 2 of RP-Initiated Logout 1.0). Ignores `logout_hint`, because a session has
 * only one user.
 */
@Injectable()
export class EndSessionRequestService {
  constructor(
    private readonly contexts: AuthorizationContextStore,
    private readonly keys: SigningKeys,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /**
   * RP-Initiated Logout 1.0, section 4: if a validation fails, "any operations requiring the information that failed to
   * correctly validate MUST be aborted". The log-out itself does not require it.
   */
  async read(query: string): Promise<EndSessionRequest> {
    try {
      return await this.validate(query);
    } catch (error) {
      if (!(error instanceof OAuthError) || error.status >= 500) throw error;
      const client = error instanceof KnownClientError ? error.client : null;
      return { client, hint: null, returnTo: null, uiLocales: null, refused: error };
    }
  }

  private async validate(query: string): Promise<EndSessionRequest> {
    const parameters = parseQuery(query);
    const clientId = readParameter(parameters, 'client_id');
    const idToken = readParameter(parameters, 'id_token_hint');
    const uri = readParameter(parameters, 'post_logout_redirect_uri');
    const state = readParameter(parameters, 'state') ?? null;
    const uiLocales = readParameter(parameters, 'ui_locales') ?? null;
    const hint = idToken === undefined ? null : await this.verifyHint(idToken, clientId);
    const client = await this.clientOf(hint === null ? clientId : String(hint['aud']));
    // Section 3: the OP "MUST NOT perform post-logout redirection" to a URI that is not registered.
    if (uri !== undefined && !client?.postLogoutRedirectUris.includes(uri)) throw unregistered(uri, client);
    return { client, hint, returnTo: uri === undefined ? null : { uri, state }, uiLocales, refused: null };
  }

  /**
   * RP-Initiated Logout 1.0, section 2: "the OP MUST ask the End-User this question if an id_token_hint was not
   * provided or if the supplied ID Token does not belong to the current OP session".
   */
  isForSession({ client, hint }: EndSessionRequest, { user, sessionId }: CurrentAccount): boolean {
    return (
      client !== null &&
      hint !== null &&
      hint['sub'] === subjectOf(client, user.id) &&
      hint['sid'] === sessionIdFor(client.clientId, sessionId)
    );
  }

  /**
   * RP-Initiated Logout 1.0, section 2: "the OP MUST verify that the Client Identifier matches the one used when
   * issuing the ID Token".
   */
  private async verifyHint(
    idToken: string,
    clientId: string | undefined,
  ): Promise<Readonly<Record<string, unknown>>> {
    const hint = await this.keys.verify(idToken, this.configuration.BASE_URL, clientId);
    if (typeof hint !== 'string') return hint;
    throw OAuthError.invalidRequest('id_token_hint_invalid', {
      detail: { wrong: hint, ...(clientId !== undefined && { client_id: clientId }) },
    });
  }

  private async clientOf(clientId: string | undefined): Promise<Client | null> {
    if (clientId === undefined) return null;
    return enabledClient((await this.contexts.find(clientId, null)).client, clientId);
  }
}

/** RP-Initiated Logout 1.0, section 2: the OP "passes this value back to the RP using the state parameter". */
export function locationOf({ returnTo }: EndSessionRequest): string | null {
  if (returnTo === null) return null;
  const { uri, state } = returnTo;
  return state === null ? uri : addQuery(uri, `state=${encodeURIComponent(state)}`);
}

/** Query of the confirmation form. Repeats the request with the client id in place of the ID token. */
export function confirmationQuery({ client, returnTo }: EndSessionRequest): string {
  const { uri, state = null } = returnTo ?? {};
  return new URLSearchParams({
    ...(client && { client_id: client.clientId }),
    ...(uri !== undefined && { post_logout_redirect_uri: uri }),
    ...(state !== null && { state }),
  }).toString();
}

function unregistered(uri: string, client: Client | null): OAuthError {
  const error = OAuthError.invalidRequest(
    client ? 'post_logout_redirect_uri_unregistered' : 'post_logout_redirect_uri_unregistered.without_client',
    {
      detail: {
        post_logout_redirect_uri: uri,
        ...(client && { client_id: client.clientId, registered: client.postLogoutRedirectUris }),
      },
    },
  );
  return client ? new KnownClientError(error, client) : error;
}
