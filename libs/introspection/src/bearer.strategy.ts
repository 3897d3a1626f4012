import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import { Introspector, type TokenInfo } from './introspector.js';

/** Name of the strategy in passport. */
export const ACCESS_TOKEN_STRATEGY = 'oauth-access-token';

/** The part of a request that passport sees: tokens are accepted in the Authorization header only (RFC 9700 4.3.2). */
export interface BearerRequest {
  readonly headers: { readonly authorization?: string | undefined };
  /** Id of the request in logs. */
  readonly reference: string;
}

/** Validates bearer tokens by introspection. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, ACCESS_TOKEN_STRATEGY) {
  constructor(private readonly introspector: Introspector) {
    super({ passReqToCallback: true });
  }

  async validate(request: unknown, token: string): Promise<TokenInfo | false> {
    return (await this.introspector.introspect(token, (request as BearerRequest).reference)) ?? false;
  }
}
