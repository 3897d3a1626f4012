import { AUDIT_TYPES } from '../event.js';
import { typesNamed } from '../filter.js';
import { Rule, Text, Texts, WholeNumber } from '#operations/validate.js';
import { Cursor } from '#operations/list.js';
import { quoted } from '#operations/wording.js';
import { MOMENT, parseTime } from './moment.js';

const MAX_LIMIT = 10_000;

export class AuditFilterDto {
  /** Types such as `token.issued`, or groups such as `token`; empty for all types. */
  @Texts()
  @Rule('type_unknown', ({ types }: AuditFilterDto) =>
    types
      .filter((name) => typesNamed(name).length === 0)
      .map((name) => `‹types› ${quoted(name)} is unknown: the types are ${AUDIT_TYPES.join(', ')}`),
  )
  types: string[] = [];

  @Text()
  client?: string;

  /** Email address, username or external_id. The form `id:42` also selects a deleted user. */
  @Text()
  user?: string;

  @Text()
  grant?: string;

  @Text()
  reference?: string;

  /** Failed check, such as `code_expired`. */
  @Text()
  check?: string;

  /** Name of the operator in events, such as `ada@laptop`. */
  @Text()
  operator?: string;

  /** Inclusive lower bound. */
  @Text()
  @Rule('time_invalid', ({ since }: AuditFilterDto) => timeProblems('‹since›', since))
  since?: string;

  /** Exclusive upper bound. */
  @Text()
  @Rule('time_invalid', ({ until }: AuditFilterDto) => timeProblems('‹until›', until))
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

function timeProblems(name: string, text: string | undefined): string[] {
  return text === undefined || parseTime(text) ? [] : [`${name} must be ${MOMENT}`];
}
