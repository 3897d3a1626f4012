import { ArrayMaxSize, IsArray, IsIn, IsObject, IsString, Length } from 'class-validator';
import { IsReceiverHeader, IsReceiverUrl } from '#events/receiver.rules.js';
import { reports } from '#platform/validation/problem.js';
import { MayBeAbsent } from '#platform/validation/validate.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    events_invalid: { readonly max: number };
    description_invalid: { readonly max: number };
    verification_state_invalid: { readonly max: number };
  }
}

/** RFC 8935 and RFC 8936 (section 10.3 of the Shared Signals Framework 1.0). */
export const DELIVERY_METHODS = { push: 'urn:ietf:rfc:8935', poll: 'urn:ietf:rfc:8936' } as const;
const METHODS = Object.values(DELIVERY_METHODS);
const MAX_EVENTS = 50;

export class DeliveryDto {
  @IsIn(METHODS)
  @IsString()
  method: (typeof METHODS)[number];

  @IsReceiverUrl()
  @MayBeAbsent()
  endpoint_url?: string;

  @IsReceiverHeader()
  @MayBeAbsent()
  authorization_header?: string;
}

/** Configuration that a client chooses (section 8.1.1). Members that the service supplies are ignored. */
export class StreamDto {
  @IsObject()
  @MayBeAbsent()
  delivery?: object;

  @IsString({ each: true, ...reports('events_invalid', { max: MAX_EVENTS }) })
  @ArrayMaxSize(MAX_EVENTS, reports('events_invalid', { max: MAX_EVENTS }))
  @IsArray()
  @MayBeAbsent()
  events_requested?: string[];

  @Length(0, 255, reports('description_invalid', { max: 255 }))
  @IsString()
  @MayBeAbsent()
  description?: string;
}

export class StatusDto {
  @IsIn(['enabled', 'paused', 'disabled'])
  @IsString()
  status: 'enabled' | 'paused' | 'disabled';

  @Length(0, 255, reports('description_invalid', { max: 255 }))
  @IsString()
  @MayBeAbsent()
  reason?: string;
}

export class VerificationDto {
  @Length(0, 1024, reports('verification_state_invalid', { max: 1024 }))
  @IsString()
  @MayBeAbsent()
  state?: string;
}
