import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';

export const REFRESH_TOKEN_STRATEGY = 'oauth-refresh-token';

/** Takes the refresh token from the Authorization header; what it is worth is the grant engine's to say. */
@Injectable()
export class RefreshTokenStrategy extends PassportStrategy(Strategy, REFRESH_TOKEN_STRATEGY) {
  validate(refreshToken: string): string {
    return refreshToken;
  }
}
