import { json, type OperationDescription } from '#openapi/operation.js';
import { ApiProperty } from '#openapi/schema.js';
import { apiErrors, NONCE } from '../openapi/api-errors.js';

export class Profile {
  @ApiProperty({
    type: 'integer',
    description:
      'Stays the same for the life of the account. Only this identifies a user (OpenID Connect Core 5.7).',
  })
  readonly id: number;

  @ApiProperty({
    type: ['string', 'null'],
    description:
      'The user may change it. Null if it belongs to another user, or may be an email that is not verified.',
  })
  readonly username: string | null;

  @ApiProperty({
    type: ['string', 'null'],
    description: 'The user may change it. Null unless it is verified.',
  })
  readonly email: string | null;

  @ApiProperty({ description: 'Display name.' })
  readonly name: string;

  @ApiProperty({ type: ['string', 'null'], description: 'URL of a picture.' })
  readonly avatarUrl: string | null;

  @ApiProperty({ type: ['string', 'null'], description: 'Text about the user.' })
  readonly bio: string | null;

  @ApiProperty({ type: 'integer', description: 'Clock format: 12 or 24 hours.' })
  readonly timeFormat: number;

  @ApiProperty({ type: ['integer', 'null'], description: 'The schedule that bookings use.' })
  readonly defaultScheduleId: number | null;

  @ApiProperty({ description: 'First day of the week.' })
  readonly weekStart: string;

  @ApiProperty({ description: 'IANA name, like Europe/Berlin.' })
  readonly timeZone: string;

  @ApiProperty({ type: ['integer', 'null'], description: 'The organization that the user belongs to.' })
  readonly organizationId: number | null;
}

export class MeResponse {
  @ApiProperty({ type: 'string', const: 'success', description: 'Distinguishes a response from an error.' })
  readonly status: 'success';

  @ApiProperty({ allOf: [Profile], description: 'The user who granted access.' })
  readonly data: Profile;
}

export const ME_OPERATION: OperationDescription = {
  id: 'me',
  tag: 'API',
  summary: 'Profile of the user who granted access',
  description: 'RFC 6750, RFC 9449. Needs the scope `profile:read`. May be called from any origin (CORS).',
  security: [{ accessToken: ['profile:read'] }, { dpop: ['profile:read'] }],
  parameters: {
    DPoP: { in: 'header', description: 'Proof for a token that is bound to a key (RFC 9449 7.1).' },
  },
  responses: {
    200: {
      description: 'The profile.',
      headers: { 'DPoP-Nonce': NONCE },
      content: json(MeResponse, {
        profile: {
          status: 'success',
          data: {
            id: 7,
            username: 'ada',
            email: 'ada@example.com',
            name: 'Ada Lovelace',
            avatarUrl: null,
            bio: null,
            timeFormat: 24,
            defaultScheduleId: null,
            weekStart: 'Monday',
            timeZone: 'Europe/London',
            organizationId: null,
          },
        },
      }),
    },
    ...apiErrors(400, 401, 403, 429, 500, 503),
  },
};
