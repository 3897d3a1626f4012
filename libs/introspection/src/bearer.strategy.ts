import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import { Introspector, type TokenInfo } from './introspector.js';

/** The name under which passport knows the strategy. */
export const ACCESS_TOKEN_STRATEGY = 'oauth-access-token';

/** What the guard shows passport of a request: a header is the only place a token is read from (RFC 9700 4.3.2). */
export interface BearerRequest {
  readonly headers: { readonly authorization?: string | undefined };
  readonly reference: string;
}

/** passport-http-bearer over introspection. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, ACCESS_TOKEN_STRATEGY) {
  constructor(private readonly introspector: Introspector) {
    super({ passReqToCallback: true });
  }

  async validate(request: unknown, token: string): Promise<TokenInfo | false> {
    return (await this.introspector.introspect(token, (request as BearerRequest).reference)) ?? false;
  }
}
