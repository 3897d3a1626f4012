import { quoted } from '#oauth/text.js';
import type { Problems } from '#platform/validation/problem.js';
import type { ProblemEntries } from './problem-entry.js';

const EXPECTED: Readonly<Record<Problems['type']['expected'], string>> = {
  text: 'text without NUL characters',
  texts: 'a list of texts without NUL characters',
  flag: 'true or false',
  number: 'a number',
  file: 'the content of a file',
  json: 'JSON',
  object: 'an object',
};

export const INPUT_PROBLEMS = {
  unknown_field: ({ field }) => `${field} is not a field of this operation`,
  type: ({ field, values }) => `${field} must be ${EXPECTED[values.expected]}`,
  number_invalid: ({ field, values: { min, max } }) =>
    `${field} must be a whole number from ${min} to ${max}`,
  cursor_invalid: ({ field }) => `${field} is not a cursor of this list`,
  version_outdated: ({ values: { record = 'resource' } }) =>
    `the ${record} has changed since it was read: read it again`,
  word_unknown: ({ field, values: { given, words } }) =>
    `${field} ${quoted(given)} is unknown: it must be ${words.join(' or ')}`,
} satisfies Partial<ProblemEntries<keyof Problems>>;

/** Problems of requests to the console and its HTTP API. */
export const CONSOLE_PROBLEMS = {
  job_unknown: () => 'there is no such job',
  logo_missing: () => 'the application has no logo',
  consent_page_unreadable: () => 'authorize answered with a page that this version cannot show',
  unknown_parameter: () => 'this operation has no such parameter',
  parameter_repeated: () => 'the parameter is sent twice',
  member_repeated: () => 'an object of the body contains this member twice',
} satisfies Partial<ProblemEntries<keyof Problems>>;
