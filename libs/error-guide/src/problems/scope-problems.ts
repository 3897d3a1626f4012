import type { Problems } from '#platform/validation/problem.js';
import type { ProblemEntries } from './problem-entry.js';

export const SCOPE_PROBLEMS = {
  scopes_not_utf8: () => 'it is not UTF-8',
  scopes_syntax: ({ values: { message } }) => message,
  scopes_malformed: ({ values: { max } }) => `it must contain only "scopes", a list of 1 to ${max} scopes`,
  scopes_without_default: () => 'no scope is the default: give at least one "default: true"',
  scope_malformed: () => 'it must be a map with a name and a text',
  scope_field_unknown: ({ field, values: { fields } }) =>
    `it has an unknown field ${field}: the fields are ${fields.join(', ')}`,
  scope_name_invalid: ({ values: { max } }) =>
    `its name must be 1 to ${max} printable ASCII characters without space, comma, " and \\ (RFC 6749 3.3)`,
  scope_name_reserved: () => "it is a built-in scope of the operators' HTTP API: choose another name",
  scope_repeated: () => 'it is declared more than once',
  scope_resource_malformed: ({ field }) => `${field} must be an origin without a path or trailing slash`,
  scope_resource_unknown: ({ values: { resource } }) =>
    `its resource ${resource} is neither API_URL nor one of OTHER_API_URLS`,
  scope_description_invalid: ({ field, values: { max } }) =>
    `${field} must be one line of 1 to ${max} characters`,
  scope_texts_missing: ({ field }) => `${field} must be a map from languages to texts`,
  scope_text_invalid: ({ field, values: { max } }) =>
    `its text in ${field} must be one line of 1 to ${max} characters`,
  scope_english_missing: () => 'it has no English text: give "en"',
  scope_language_unknown: ({ field, values: { fields } }) =>
    `it has a text in the unknown language ${field}: the languages are ${fields.join(', ')}`,
} satisfies Partial<ProblemEntries<keyof Problems>>;
