import { IsNotEmpty, IsUrl } from 'class-validator';
import { IsOneOf, IsWholeNumber, IsOrigin } from '#platform/configuration/variables.js';

export class DemoConfiguration {
  readonly HOST: string = '127.0.0.1';

  @IsWholeNumber(1, 65_535)
  readonly PORT: number = 3000;

  @IsOneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
  readonly LOG_LEVEL: string = 'info';

  @IsNotEmpty({ message: 'CLIENT_ID must be the client id that the operator issued' })
  readonly CLIENT_ID: string;

  @IsNotEmpty({ message: 'CLIENT_SECRET must be the client secret that the operator issued' })
  readonly CLIENT_SECRET: string;

  /** Redirect URI exactly as registered; its path is /callback. */
  @IsUrl(
    { protocols: ['http', 'https'], require_protocol: true, require_tld: false },
    { message: 'REDIRECT_URI must be a URL, http://… or https://…' },
  )
  readonly REDIRECT_URI: string;

  @IsOrigin()
  readonly AUTH_URL: string;

  /** The URL of the token app, which is the issuer (RFC 9207). */
  @IsOrigin()
  readonly BASE_URL: string;

  @IsOrigin()
  readonly API_URL: string;
}
