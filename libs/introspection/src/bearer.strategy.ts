import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import { type AnyToken, Introspector } from './introspector.js';

export const ACCESS_TOKEN_STRATEGY = 'oauth-access-token';

/**
 * Request for passport. Has no query and no body, because passport would also read a token there (RFC 9700 4.3.2
 * forbids a token in the query).
 */
export interface BearerRequest {
  readonly headers: { readonly authorization?: string | undefined };
  readonly reference: string;
}

@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, ACCESS_TOKEN_STRATEGY) {
  constructor(private readonly introspector: Introspector) {
    super({ passReqToCallback: true });
  }

  async validate(request: unknown, token: string): Promise<AnyToken | false> {
    return (await this.introspector.introspectAny(token, (request as BearerRequest).reference)) ?? false;
  }
}
