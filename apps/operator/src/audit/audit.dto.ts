import { quoted } from '#administration/text.js';
import { AUDIT_TYPES } from '#audit/event.js';
import { typesNamed } from '#audit/filter.js';
import { Rule } from '../command-line/input.js';
import { MOMENT, parseTime } from '../command-line/moment.js';

const MAX_LIMIT = 10_000;

export class AuditFilterDto {
  @Rule(({ type }: AuditFilterDto) =>
    type
      .filter((name) => typesNamed(name).length === 0)
      .map((name) => `--type ${quoted(name)} is unknown: the types are ${AUDIT_TYPES.join(', ')}`),
  )
  type: string[] = [];

  client?: string;

  user?: string;

  grant?: string;

  reference?: string;

  @Rule(({ since }: AuditFilterDto) => momentProblems('--since', since))
  since?: string;

  @Rule(({ until }: AuditFilterDto) => momentProblems('--until', until))
  until?: string;
}

export class AuditSearchDto extends AuditFilterDto {
  @Rule(({ limit }: AuditSearchDto) =>
    Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT
      ? []
      : [`--limit must be a whole number from 1 to ${MAX_LIMIT}: audit export has no limit`],
  )
  limit = 100;
}

function momentProblems(option: string, text: string | undefined): string[] {
  return text === undefined || parseTime(text) ? [] : [`${option} must be ${MOMENT}`];
}
