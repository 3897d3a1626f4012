import { applyDecorators } from '@nestjs/common';
import { IsArray, IsString } from 'class-validator';
import { AUDIT_TYPES } from '../event.js';
import { typesNamed } from '../filter.js';
import { Cursor } from '#operations/list.js';
import { problem, reports } from '#platform/validation/problem.js';
import { MayBeAbsent, Rule, Satisfies, WholeNumber } from '#platform/validation/validate.js';
import { MOMENT, parseTime } from './moment.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    type_unknown: { readonly given: string; readonly types: readonly string[] };
    time_invalid: { readonly form: string };
  }
}

const MAX_LIMIT = 10_000;

/** Accepts a time, or a duration before now (see `parseTime`). */
export const IsTime = (): PropertyDecorator =>
  applyDecorators(
    MayBeAbsent(),
    IsString(),
    Satisfies((text) => parseTime(text) !== null, reports('time_invalid', { form: MOMENT })),
  );

export class AuditFilterDto {
  /** Types such as `token.issued`, or groups such as `token`; empty for all types. */
  @Rule(({ types }: AuditFilterDto) =>
    types
      .filter((name) => typesNamed(name).length === 0)
      .map((given) => problem('type_unknown', 'types', { given, types: AUDIT_TYPES })),
  )
  @IsString({ each: true })
  @IsArray()
  types: string[] = [];

  @IsString()
  @MayBeAbsent()
  client?: string;

  /** Email address, username or external_id. The form `id:42` also selects a deleted user. */
  @IsString()
  @MayBeAbsent()
  user?: string;

  @IsString()
  @MayBeAbsent()
  grant?: string;

  @IsString()
  @MayBeAbsent()
  reference?: string;

  /** Failed check, such as `code_expired`. */
  @IsString()
  @MayBeAbsent()
  check?: string;

  /** Name of the operator in events, such as `ada@laptop`. */
  @IsString()
  @MayBeAbsent()
  operator?: string;

  /** Inclusive lower bound. */
  @IsTime()
  since?: string;

  /** Exclusive upper bound. */
  @IsTime()
  until?: string;
}

export class AuditSearchDto extends AuditFilterDto {
  @WholeNumber(1, MAX_LIMIT)
  limit = 100;
}

export class AuditPageDto extends AuditFilterDto {
  @WholeNumber(1, 500)
  limit = 50;

  @Cursor((skipped) => /^\d{1,6}$/.test(skipped))
  cursor?: string;
}
