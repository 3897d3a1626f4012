import { Inject, Injectable } from '@nestjs/common';
import { ClientDocumentsService } from '#clients/documents/client-documents.service.js';
import {
  type AuthorizationContext,
  AuthorizationContextStore,
} from '#clients/authorization-context.store.js';
import type { Client } from '#clients/client.js';
import type { User } from '#users/user.js';
import {
  type AuthorizationRequest,
  checkAuthorizationRequest,
  redirectable,
} from '#oauth/authorization-request.js';
import { isDocumentUrl } from '#oauth/oauth-client.js';
import { isAuthenticationRequest } from '#oauth/openid/authentication-request.js';
import { RedirectableError } from '#oauth/redirectable.error.js';
import { type Parameters, parseQuery, readParameter } from '#oauth/parameters.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { parseClaims } from '#oauth/openid/claims.js';
import { subjectOf } from '#oauth/openid/id-token.js';
import { SigningKeys } from '#oauth/openid/signing-keys.js';
import { isPushedReference } from '#oauth/pushed-request.js';
import { CLOCK, type Clock } from '#platform/clock.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { requestedScopes } from '../consent/interaction.js';
import type { SentForm } from '../session/sent-form.js';
import { isCurrent } from '../session/session.service.js';
import type { UserSession } from '../session/user-session.store.js';
import { KnownClientError } from './known-client.error.js';
import { PushedRequestService } from './pushed-request.service.js';
import type { ValidatedRequest } from '../validated-request.js';

@Injectable()
export class AuthorizationRequestService {
  private readonly apis: readonly string[];

  constructor(
    private readonly contexts: AuthorizationContextStore,
    private readonly documents: ClientDocumentsService,
    private readonly pushed: PushedRequestService,
    private readonly configuration: AuthorizeConfiguration,
    private readonly scopes: ScopeCatalogue,
    private readonly keys: SigningKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.apis = configuration.apis;
  }

  /**
   * Runs one SQL query, and for a pushed request also one Redis script. May fetch the client's metadata document, and
   * repeats the query if the document has changed the registration.
   * @throws RedirectableError if the redirect URI is verified, otherwise OAuthError
   */
  async validate(
    query: string,
    session: UserSession | null,
    form: SentForm | null = null,
  ): Promise<ValidatedRequest> {
    const parameters = parseQuery(query);
    const clientId = clientIdOf(parameters);
    const context = await this.contextOf(clientId, session?.userId ?? null);
    const client = enabledClient(context.client, clientId);
    const user = session && context.user && isCurrent(session, context.user) ? context.user : null;
    const refusal = user && testingRefusal(client, context, user);
    const { request, pushedId } = await this.check(parameters, client, user !== null, form).catch(
      (error: unknown) => {
        const showsPage = error instanceof OAuthError && (refusal || !(error instanceof RedirectableError));
        throw showsPage ? new KnownClientError(refusal ?? error, client) : error;
      },
    );
    if (refusal)
      throw request.prompt.has('none')
        ? new RedirectableError(refusal, request, client)
        : new KnownClientError(refusal, client);
    const scopes = requestedScopes(request, client, user ? context.decisions : []);
    const loginTooOld = session !== null && this.isLoginTooOld(session, request.maxAge);
    const isOtherUser = await this.isOtherUser(request, client, user);
    const { grantsOfDay } = context;
    return { ...request, client, pushedId, user, loginTooOld, isOtherUser, scopes, grantsOfDay };
  }

  private async contextOf(clientId: string, userId: number | null): Promise<AuthorizationContext> {
    const context = await this.contexts.find(clientId, userId);
    if (!isDocumentUrl(clientId) || !(await this.documents.update(clientId, context.client))) return context;
    return this.contexts.find(clientId, userId);
  }

  /** Returns null without a valid request. The authorization endpoint reports the error of an invalid request. */
  async validateOrNull(query: string, session: UserSession | null): Promise<ValidatedRequest | null> {
    try {
      return await this.validate(query, session);
    } catch (error) {
      if (error instanceof OAuthError && error.status < 500) return null;
      throw error;
    }
  }

  /** OpenID Connect Core 3.1.2.1 (max_age). After an external login, only the provider's `auth_time` counts. */
  private isLoginTooOld({ authTime, external }: UserSession, maxAge: number | null): boolean {
    if (maxAge === null) return false;
    const authenticated = external ? (external.authTime ?? -Infinity) : authTime;
    return this.clock() - authenticated > maxAge * 1_000;
  }

  /**
   * OpenID Connect Core 3.1.2.1, 5.5.1: `id_token_hint` and `claims` can name the expected user.
   * @throws RedirectableError for an invalid hint
   */
  private async isOtherUser(
    request: AuthorizationRequest,
    client: Client,
    user: User | null,
  ): Promise<boolean> {
    const { idTokenHint, claims } = request;
    if (idTokenHint === null && claims === null) return false;
    const expected = [parseClaims(claims ?? undefined).subject];
    if (idTokenHint !== null) {
      const hint = await this.keys.verify(idTokenHint, this.configuration.BASE_URL, client.clientId);
      if (typeof hint === 'string') throw invalidHint(request, client, hint);
      expected.push(String(hint['sub']));
    }
    const subject = user && subjectOf(client, user.id);
    return user !== null && expected.some((sub) => sub !== null && sub !== subject);
  }

  private async check(
    parameters: Parameters,
    client: Client,
    loggedIn: boolean,
    form: SentForm | null,
  ): Promise<{ request: AuthorizationRequest; pushedId: string | null }> {
    const { scopes, apis } = this;
    const requestUri = readParameter(parameters, 'request_uri');
    if (
      requestUri !== undefined &&
      !isPushedReference(requestUri) &&
      isAuthenticationRequest(parameters, client, scopes)
    )
      throw unsupportedRequestUri(parameters, client);
    if (requestUri === undefined) {
      const pushRequired = client.requirePar || this.configuration.REQUIRE_PAR === 'true';
      return {
        request: checkAuthorizationRequest(parameters, client, { scopes, pushRequired, apis }),
        pushedId: null,
      };
    }
    // Ignores all parameters except client_id and request_uri (RFC 9101 6.3). Checks the pushed parameters again,
    // because the registration of the client may have changed since the push.
    const { id, parameters: pushed } = await this.pushed.open(requestUri, client, loggedIn, form);
    const options = { scopes, apis: this.apis };
    return { request: checkAuthorizationRequest(pushed, client, options), pushedId: id };
  }
}

function invalidHint(request: AuthorizationRequest, client: Client, wrong: string): RedirectableError {
  const error = OAuthError.invalidRequest('id_token_hint_invalid', { detail: { wrong } });
  return new RedirectableError(error, request, client);
}

/**
 * OpenID Connect Core 6.2 defines this error for references to request objects, which are not supported. Redirects the
 * error if the request also has a registered redirect URI.
 */
function unsupportedRequestUri(parameters: Parameters, client: Client): OAuthError {
  const error = new OAuthError('request_uri_not_supported', 400, 'request_uri_unsupported');
  return redirectable(error, parameters, client);
}

function clientIdOf(parameters: Parameters): string {
  const clientId = readParameter(parameters, 'client_id');
  if (clientId !== undefined) return clientId;
  throw OAuthError.invalidRequest('client_id_missing');
}

/**
 * Returns the error for a user who is not an owner or tester of an application in testing; null for other users. The
 * user sees a page, because a redirect could lead to a phishing site: the redirect URI was not reviewed (RFC 9700
 * 4.11.2). The application gets the error only with `prompt=none`, which forbids a page.
 */
export function testingRefusal(
  { clientId }: Client,
  { isAdmitted }: Pick<AuthorizationContext, 'isAdmitted'>,
  user: User,
): OAuthError | null {
  if (isAdmitted) return null;
  const detail = { client_id: clientId, user_id: user.id };
  return new OAuthError('access_denied', 403, 'client_in_testing', { detail });
}

/** RFC 6749 4.1.2.1: with an invalid client, the server "MUST NOT automatically redirect the user-agent". */
export function enabledClient(client: Client | null, clientId: string): Client {
  if (client?.disabledAt === null) return client;
  // Never redirects to a disabled application, not even with an error.
  if (client) {
    const error = new OAuthError('unauthorized_client', 403, 'client_disabled.authorization', {
      detail: { client_id: clientId, disabled_at: client.disabledAt },
    });
    throw new KnownClientError(error, client);
  }
  throw OAuthError.invalidRequest('client_id_unregistered', { detail: { client_id: clientId } });
}
