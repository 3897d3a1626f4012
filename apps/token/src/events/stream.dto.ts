import { applyDecorators } from '@nestjs/common';
import { ArrayMaxSize, IsArray, IsIn, IsObject, IsString } from 'class-validator';
import { STREAM_STATUSES, type StreamStatus } from '#events/event-stream.entity.js';
import { IsReceiverHeader, IsReceiverUrl } from '#events/receiver.rules.js';
import { reports } from '#platform/validation/problem.js';
import { MayBeAbsent, Satisfies } from '#platform/validation/validate.js';

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

/**
 * Counts characters like PostgreSQL; `Length` does not count variation selectors. Refuses a lone surrogate, which is
 * not Unicode, and which `jsonb` cannot store.
 */
function StoredText(max: number, options: ReturnType<typeof reports>): PropertyDecorator {
  const isStorable = (text: string) => !/\p{Surrogate}/u.test(text) && Array.from(text).length <= max;
  return applyDecorators(Satisfies(isStorable, options), IsString());
}

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

  @StoredText(255, reports('description_invalid', { max: 255 }))
  @MayBeAbsent()
  description?: string;
}

export class StatusDto {
  @IsIn(STREAM_STATUSES)
  @IsString()
  status: StreamStatus;

  @StoredText(255, reports('description_invalid', { max: 255 }))
  @MayBeAbsent()
  reason?: string;
}

export class VerificationDto {
  @StoredText(1024, reports('verification_state_invalid', { max: 1024 }))
  @MayBeAbsent()
  state?: string;
}
