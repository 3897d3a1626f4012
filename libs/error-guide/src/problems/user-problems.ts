import { quoted, shellWords } from '#oauth/text.js';
import type { Problems } from '#platform/validation/problem.js';
import type { ProblemEntries } from './problem-entry.js';

const DUPLICATES: Readonly<Record<string, string>> = {
  users_email_unique: 'email',
  users_username_unique: 'username',
  users_identity_unique: 'issuer and external_id',
};

const WAYS_BACK = {
  role: (login: string) => ['console', 'grant', login, '--role', 'admin'],
  disable: (login: string) => ['user', 'enable', login],
  delete: () => ['console', 'grant', 'LOGIN', '--role', 'admin'],
} as const;

const FILE_REASONS: Readonly<Record<Problems['user_file_invalid']['reason'], string>> = {
  empty: 'the file is empty: check the export that wrote it',
  nul: 'the file has NUL characters, as UTF-16 without a byte order mark: convert it, for example with iconv -f UTF-16LE -t UTF-8',
  json: 'the file is JSON, not CSV: use --format jsonl',
  array: "the file is a JSON array, not one object per line: convert it, for example with jq -c '.[]'",
  lines:
    'an object is spread over several lines, not one object per line: convert the file, for example with jq -c .',
};

type HashProblem = Problems['password_hash_invalid'];

const HASH_TEXTS: {
  readonly [Reason in HashProblem['reason']]: (problem: HashProblem & { readonly reason: Reason }) => string;
} = {
  unreadable: () => 'it must be text, or a credential of Keycloak',
  unknown: () => 'it is not argon2, bcrypt, PBKDF2 or scrypt in a form that this service reads',
  base64: () => 'its salt or hash is not base64 without padding',
  bcrypt_cost: ({ min, max }) => `its bcrypt cost must be from ${min} to ${max}`,
  argon2_parameters: () => 'its argon2 parameters are not valid',
  argon2_passes: ({ max }) => `its argon2 passes (t) must be at most ${max}`,
  argon2_memory: ({ max }) => `its argon2 memory (m) must be at most ${max}`,
  argon2_work: ({ max }) => `its argon2 memory times passes (m × t) must be at most ${max}`,
  pbkdf2_length: () => 'its PBKDF2 hash does not have the length l',
  pbkdf2_iterations: ({ bytes, max }) =>
    `its PBKDF2 iterations, times the blocks of ${bytes} bytes of the hash, must be at most ${max}`,
  scrypt_parameters: ({ r, p }) => `its scrypt parameters must be at most ${r} (r) and ${p} (p)`,
  scrypt_n: () => 'its scrypt parameter N must be less than 2^(128 × r / 8) (RFC 7914 2)',
  scrypt_memory: ({ max }) => `its scrypt memory (128 × N × r) must be at most ${max} KiB`,
  scrypt_work: ({ max }) => `its scrypt memory times p must be at most ${max} KiB`,
};

export const USER_PROBLEMS = {
  email_invalid: ({ field }) => `${field} must be an email address, like ada@example.com`,
  username_invalid: ({ field }) =>
    `${field} must be 1 to 64 letters, digits, dots, hyphens and underscores, and start with a letter or digit`,
  name_invalid: ({ field, values: { max, isVisible } }) =>
    `${field} must be 1 to ${max} printable characters${isVisible ? ', at least one of them visible,' : ''} with no space at either end`,
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
  operators_scope_required: ({ values: { account } }) =>
    account === 'user'
      ? 'the user has a role in the console: request a token with the scope admin:operators'
      : 'this is an API client, or the application of the console: request a token with the scope admin:operators',
  roles_of_groups: () => 'the groups of the login provider decide who has a role (CONSOLE_GROUPS_CLAIM)',
  console_operator_known: ({ values: { email } }) => `${quoted(email)} has a role already: change it`,
  console_operator_unknown: {
    text: ({ values: { login } }) => `${quoted(login)} has no role in the console`,
    next: () => ({ text: 'See', command: ['console', 'list'] }),
  },
  invitation_unknown: ({ values: { id } }) => `there is no invitation ${quoted(id)}`,
  confirmLastAdmin: ({ values: { change, login } }) =>
    `this user is the last admin of the console, and only the command line could appoint another one. The way back is: operator ${shellWords(WAYS_BACK[change](login))}`,
  issuer_invalid: ({ field, values: { max } }) => `${field} must be 1 to ${max} characters`,
  email_too_long: ({ field, values: { max } }) =>
    `${field} must be an email address of at most ${max} characters`,
  text_invalid: ({ field, values: { max } }) =>
    `${field} must be 1 to ${max} characters, none of them a control character`,
  bio_invalid: ({ field, values: { max } }) => `${field} must be at most ${max} characters, or null`,
  web_address_invalid: ({ field, values: { max } }) =>
    `${field} must be an http or https URL of at most ${max} characters, or null`,
  time_format_invalid: ({ field }) => `${field} must be 12 or 24`,
  week_start_invalid: ({ field }) => `${field} must be an English name of a day, like Monday`,
  language_tag_invalid: ({ field, values: { max } }) =>
    `${field} must be a language tag of at most ${max} characters, like de, or null`,
  field_missing: ({ field }) => `${field} is missing`,
  timestamp_invalid: ({ field }) =>
    `${field} must be a time with a time zone, like 2026-11-22T13:00:00.123456Z`,
  timestamp_in_future: ({ field }) => `${field} must not be in the future`,
  identity_incomplete: ({ field, values: { given } }) => `${field} is required with ${given}`,
  login_name_invalid: ({ field }) =>
    `${field} must be 1 to 64 letters, digits, dots, hyphens and underscores, or the email, where users log in with a password`,
  password_hash_invalid: ({ field, values }) =>
    `${field} is not accepted: ${(HASH_TEXTS[values.reason] as (problem: HashProblem) => string)(values)}: leave the field out, and set a password with "user set-password" or let the user log in at your product`,
  active_invalid: ({ field }) => `${field} must be true or absent: oauth.user.disable disables a user`,
  link_unverified: ({ field }) => `${field} needs email_verified: true`,
  link_not_configured: ({ field }) => `${field} needs LOGIN_LINK_BY_EMAIL=true of the token app`,
  row_refused: ({ values: { constraint } }) => {
    if (constraint === '') return 'the database does not accept one of its values';
    const fields = DUPLICATES[constraint];
    return fields === undefined ? `it violates ${constraint}` : `another user has the same ${fields}`;
  },
  user_deleted_later: () => 'the user was deleted here after updated_at',
  user_enabled_here: () => 'the user is enabled here: run "user disable"',
  user_file_invalid: ({ values: { reason } }) => FILE_REASONS[reason],
  column_unknown: ({ values: { name, columns } }) =>
    `unknown column ${quoted(name)}: the columns of the CSV file must be among ${columns.join(', ')}`,
  column_repeated: ({ values: { name } }) => `the column ${name} occurs twice`,
  cells_differ: ({ values: { cells, columns } }) => `${cells} cells instead of ${columns}`,
  record_too_long: ({ values: { max } }) => `longer than ${max} characters`,
  quote_unclosed: ({ values: { line } }) => `the quote that opens in line ${line} is never closed`,
  text_after_quote: () => 'there is text after a closing quote: a quote inside quotes must be doubled',
  quote_in_cell: () => 'a quote inside a cell: put the cell in quotes, and double the quote',
  lines_skipped: ({ values: { first, last } }) => `lines ${first} to ${last} were not imported`,
  not_utf8: () => 'not UTF-8: convert the file, for example with iconv -f WINDOWS-1252 -t UTF-8',
  import_stopped: ({ values: { line, reason } }) => `stopped after line ${line}: ${reason}`,
  not_json: () => 'not JSON',
  not_an_object: () => 'not a JSON object',
} satisfies Partial<ProblemEntries<keyof Problems>>;
