import { LIMITS, Parameter, RepeatableParameter } from '#oauth/parameters.js';
import { ApiProperty } from '#openapi/schema.js';
import { ClientDto } from '../client-auth/client-credentials.dto.js';

export class DeviceAuthorizationDto extends ClientDto {
  @Parameter({
    max: LIMITS.scope,
    required: false,
    description: 'Scopes, separated by spaces. Default: the default scopes.',
  })
  scope?: string;

  @RepeatableParameter({
    description:
      'URL of an API that the tokens are valid for (RFC 8707). Default: every API. May be repeated.',
  })
  resource?: unknown;
}

export class DeviceAuthorizationResponse {
  @ApiProperty({ description: 'For the polls of the device. Confidential. 88 characters.' })
  readonly device_code: string;

  @ApiProperty({ description: 'The user types it: 8 letters and a hyphen.' })
  readonly user_code: string;

  @ApiProperty({ description: 'Page where the user types the code.' })
  readonly verification_uri: string;

  @ApiProperty({ description: 'The same page with the code, for a QR code or a link.' })
  readonly verification_uri_complete: string;

  @ApiProperty({ type: 'integer', minimum: 1, description: 'Seconds until both codes expire.' })
  readonly expires_in: number;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Seconds between two polls. Each `slow_down` adds 5.',
  })
  readonly interval: number;
}
