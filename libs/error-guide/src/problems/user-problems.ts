import { quoted, shellWords } from '#oauth/text.js';
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
  user_unknown: {
    text: ({ values: { login, mayBeDeleted }, nameOf }) => {
      const deleted = mayBeDeleted
        ? `; for events of a deleted user, give the id, like ${nameOf('user')} id:42`
        : '';
      return `there is no user ${quoted(login)}${deleted}`;
    },
    next: () => ({ text: 'See', command: ['user', 'list'] }),
  },
  user_ambiguous: ({ values: { login, names } }) =>
    `${quoted(login)} matches several users: give one of ${names.join(', ')}`,
  user_exists: ({ field }) => `${field}: another user has this value already; choose another one`,
  user_is_operator: () =>
    'the user has a role in the console, or an invitation to it: set the password on the command line',
  role_unknown: ({ field, values: { roles } }) => `${field} must be one of ${roles.join(', ')}`,
  admin_required: ({ values: { account } }) =>
    account === 'user'
      ? 'only an admin may change a user with this role in the console'
      : 'only an admin may change an API client, or the application of the console',
  roles_of_groups: () => 'the groups of the login provider decide who has a role (CONSOLE_GROUPS_CLAIM)',
  console_operator_known: ({ values: { email } }) => `${quoted(email)} has a role already: change it`,
  console_operator_unknown: {
    text: ({ values: { login } }) => `${quoted(login)} has no role in the console`,
    next: () => ({ text: 'See', command: ['console', 'list'] }),
  },
  invitation_unknown: ({ values: { id } }) => `there is no invitation ${quoted(id)}`,
  confirmLastAdmin: ({ values: { wayBack } }) =>
    `this user is the last admin of the console, and only the command line could appoint another one. The way back is: operator ${shellWords(wayBack)}`,
  issuer_invalid: ({ field, values: { max } }) => `${field} must be 1 to ${max} characters`,
} satisfies Partial<ProblemEntries<keyof Problems>>;
