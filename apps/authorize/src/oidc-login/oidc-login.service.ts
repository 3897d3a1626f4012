import { Injectable } from '@nestjs/common';
import { AuthorizeConfiguration, readClaimMapping } from '../configuration/authorize.configuration.js';
import { ExternalLoginService, type FinishedLogin } from '../external-login/external-login.service.js';
import {
  type ClaimMapping,
  emailVerifiedOf,
  isSessionId,
  profileOf,
} from '../configuration/profile-claims.js';
import { type Authenticated, OpenIdProvider } from './openid-provider.js';

@Injectable()
export class OidcLoginService {
  private readonly mapping: ClaimMapping;

  constructor(
    private readonly logins: ExternalLoginService,
    private readonly provider: OpenIdProvider,
    { LOGIN_CLAIMS }: AuthorizeConfiguration,
  ) {
    this.mapping = readClaimMapping(LOGIN_CLAIMS) ?? {};
  }

  /** Consumes the transaction first, so that a callback cannot be replayed. @throws ExternalLoginError */
  async finish(cookieHeader: string | undefined, query: string): Promise<FinishedLogin> {
    const states = new URLSearchParams(query).getAll('state');
    const [state = ''] = states.length === 1 ? states : [];
    const transaction = await this.logins.consume(cookieHeader, state);
    if (transaction.outcome === 'used') return this.logins.resume(transaction.query);
    const authenticated = await this.provider.authenticate(query, state, transaction);
    const { claims, userInfo, idToken } = authenticated;
    return this.logins.finish(cookieHeader, transaction.query, {
      subject: claims.sub,
      profile: profileOf({ ...claims, ...userInfo }, this.mapping),
      emailVerified: this.emailVerified(authenticated),
      assertedAt: claims.iat * 1000,
      session: {
        ...(typeof claims.auth_time === 'number' && { authTime: claims.auth_time * 1_000 }),
        ...(isSessionId(claims['sid']) && { sid: claims['sid'] }),
        idToken,
      },
    });
  }

  /** `email_verified` applies only to the `email` claim of the same response. */
  private emailVerified({ claims, userInfo }: Authenticated): boolean | undefined {
    if (this.mapping.email !== 'email') return undefined;
    return emailVerifiedOf(userInfo?.email === undefined ? claims : userInfo);
  }
}
