import { Injectable } from '@nestjs/common';
import { ExternalUserStore } from '#database/user/external-user.store.js';
import { DuplicateUserError, type User } from '#database/user/user.js';
import { InvalidEmailError } from '#database/user/user-profile.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { ExternalLoginError } from '../external-login/external-login.error.js';
import { ExternalLoginService, type Onward } from '../external-login/external-login.service.js';
import { type ClaimMapping, parseClaimMapping, profileOf } from './claims.js';
import { type Authenticated, OpenIdProvider } from './openid-provider.service.js';

/** Finishes the logins of browsers that return from the provider. */
@Injectable()
export class OidcLoginService {
  private readonly mapping: ClaimMapping;

  constructor(
    private readonly logins: ExternalLoginService,
    private readonly provider: OpenIdProvider,
    private readonly users: ExternalUserStore,
    private readonly configuration: AuthorizeConfiguration,
  ) {
    this.mapping = parseClaimMapping(configuration.LOGIN_CLAIMS) ?? {};
  }

  /**
   * The transaction is consumed first: whatever the answer is, it counts once.
   *
   * @param query of the callback
   * @returns the user's id, null for a return that was handled before
   * @throws ExternalLoginError
   */
  async finish(
    cookieHeader: string | undefined,
    query: string,
  ): Promise<Onward & { readonly userId: number | null }> {
    const states = new URLSearchParams(query).getAll('state');
    const [state = ''] = states.length === 1 ? states : [];
    const transaction = await this.logins.consume(cookieHeader, state);
    if (transaction.outcome === 'used') return { ...this.logins.resume(transaction.query), userId: null };
    const authenticated = await this.provider.authenticate(query, state, transaction);
    const user = await this.bringUpToDate(authenticated, transaction.query);
    const { claims, idToken } = authenticated;
    const onward = await this.logins.finish(cookieHeader, transaction.query, user, {
      ...(typeof claims.auth_time === 'number' && { authTime: claims.auth_time * 1_000 }),
      ...(typeof claims['sid'] === 'string' && { sid: claims['sid'] }),
      idToken,
    });
    return { ...onward, userId: user.id };
  }

  /** OpenID Connect Core 5.7: `sub` and `iss` together are the only stable identifier; e-mail addresses are not. */
  private async bringUpToDate(authenticated: Authenticated, query: string): Promise<User> {
    const { iss, sub } = authenticated.claims;
    const { profile, emailVerified } = profileOf(authenticated, this.mapping);
    const linkByEmail = emailVerified && this.configuration.LOGIN_LINK_BY_EMAIL === 'true';
    try {
      return await this.users.bringUpToDate({
        identity: { issuer: iss, externalId: sub },
        profile,
        linkByEmail,
      });
    } catch (error) {
      if (error instanceof InvalidEmailError)
        throw refused('email', 'the OpenID provider sent no valid e-mail', query);
      if (error instanceof DuplicateUserError)
        throw refused('duplicate', 'another user has the same e-mail or user name', query);
      throw error;
    }
  }
}

function refused(failed: string, description: string, query: string): ExternalLoginError {
  return new ExternalLoginError('login_answer', description, query, { detail: { failed } });
}
