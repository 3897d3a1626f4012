import { applyDecorators } from '@nestjs/common';
import { IsArray, IsString } from 'class-validator';
import { Cursor } from '#operations/list.js';
import { problem, reports } from '#platform/validation/problem.js';
import { MayBeAbsent, Rule, Satisfies, WholeNumber } from '#platform/validation/validate.js';
import { AUDIT_TYPES } from '../event.js';
import { typesNamed } from '../filter.js';

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 } as const;

const AGO = /^(?<count>\d{1,6})(?<unit>[smhdw])$/;
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

const LATEST = Date.UTC(10_000, 0) - 1;

export const MOMENT =
  'a time ago like 90s, 30m, 1h, 2d or 1w, or a date like 2026-11-22 or 2026-11-22T18:00Z (UTC)';

/** @returns null if the text does not match `MOMENT` */
export function parseTime(text: string, now = Date.now()): Date | null {
  const ago = AGO.exec(text)?.groups;
  const moment = ago
    ? now - Number(ago['count']) * UNITS[ago['unit'] as keyof typeof UNITS] * 1000
    : ISO.test(text)
      ? Date.parse(text)
      : NaN;
  // Clamps to the years 1970–9999: NATS rejects years with a sign.
  return Number.isNaN(moment) ? null : new Date(Math.min(Math.max(moment, 0), LATEST));
}

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
