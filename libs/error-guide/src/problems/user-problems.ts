import type { Problems } from '#platform/validation/problem.js';
import type { ProblemEntries } from './problem-entry.js';

export const USER_PROBLEMS = {
  email_invalid: ({ field }) => `${field} must be an email address, like ada@example.com`,
  username_invalid: ({ field }) =>
    `${field} must be 1 to 64 letters, digits, dots, hyphens and underscores, and start with a letter or digit`,
  name_invalid: ({ field, values: { max } }) =>
    `${field} must be 1 to ${max} printable characters with no space at either end`,
  time_zone_invalid: ({ field }) => `${field} must be an IANA name, like Europe/Berlin or UTC`,
  locale_unknown: ({ field, values: { locales, clears } }) =>
    `${field} must be one of ${locales.join(', ')}, with no region${clears ? ', or none' : ''}`,
  password_invalid: ({ field, values: { min, max } }) =>
    `${field} must be one line of ${min} to ${max} characters, with no control characters`,
  format_invalid: ({ field }) => `${field} must be jsonl or csv`,
  issuer_invalid: ({ field, values: { max } }) => `${field} must be 1 to ${max} characters`,
} satisfies Partial<ProblemEntries<keyof Problems>>;
