import { applyDecorators } from '@nestjs/common';
import { IsArray, IsOptional, IsString } from 'class-validator';
import { type Problem, problem } from '#platform/validation/problem.js';
import { MayBeAbsent, Rule } from '#platform/validation/validate.js';
import { type RequestableEvent, REQUESTABLE_EVENTS } from '../event-type.js';
import { IsReceiverHeader, IsReceiverUrl } from '../receiver.rules.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    event_stream_missing: { readonly clientId: string };
    event_types_missing: { readonly known: readonly string[] };
    event_type_unknown: { readonly given: string; readonly known: readonly string[] };
  }
}

const KNOWN: readonly string[] = REQUESTABLE_EVENTS;

/** Optional list of names of `EVENT_TYPES`. */
export const IsEventList = (): PropertyDecorator =>
  applyDecorators(IsString({ each: true }), IsArray(), MayBeAbsent(), Rule(eventProblems));

function eventProblems({ events }: { readonly events?: readonly string[] }): Problem[] {
  if (!events) return [];
  if (events.length === 0 || events.length > KNOWN.length)
    return [problem('event_types_missing', 'events', { known: KNOWN })];
  return events.flatMap((given, index) =>
    KNOWN.includes(given) ? [] : problem('event_type_unknown', ['events', index], { given, known: KNOWN }),
  );
}

/** Receiver to which the events of an application are pushed. */
export class ReceiverDto {
  @IsReceiverUrl()
  eventsUrl: string;

  /** Absent for every event, or for the events that the stream has. */
  @IsEventList()
  events?: RequestableEvent[];

  /** Value of the header Authorization of each push. Null removes it; absent keeps it if the URL stays. */
  @IsReceiverHeader()
  @IsOptional()
  eventsAuthorization?: string | null;
}
