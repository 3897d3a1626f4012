import { IsBoolean, IsString } from 'class-validator';
import { Cursor, Limit } from '#operations/list.js';
import { MayBeAbsent } from '#platform/validation/validate.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    event_unknown: { readonly jti: string };
    event_waits: { readonly jti: string };
  }
}

export class EventListDto {
  @IsString()
  @MayBeAbsent()
  client?: string;

  /** True for events that no receiver has accepted or refused yet. */
  @IsBoolean()
  waiting = false;

  @Cursor((id) => /^\d{1,18}$/.test(id))
  cursor?: string;

  @Limit()
  limit = 100;
}
