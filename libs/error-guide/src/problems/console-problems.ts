import type { Problems } from '#platform/validation/problem.js';
import type { ProblemEntries } from './problem-entry.js';

/** Problems of requests to the console and its HTTP API. */
export const CONSOLE_PROBLEMS = {
  job_unknown: () => 'there is no such job',
  logo_missing: () => 'the application has no logo',
  consent_page_unreadable: () => 'authorize answered with a page that this version cannot show',
  unknown_parameter: () => 'this operation has no such parameter',
  parameter_repeated: () => 'the parameter is sent twice',
  member_repeated: () => 'an object of the body contains this member twice',
} satisfies Partial<ProblemEntries<keyof Problems>>;
