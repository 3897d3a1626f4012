import { quoted } from '#oauth/text.js';
import type { Problems } from '#platform/validation/problem.js';
import type { ProblemEntries } from './problem-entry.js';

/** Problems of grants, keys, the audit trail and doctor. */
export const OPERATION_PROBLEMS = {
  grants_not_selected: ({ nameOf }) =>
    `say which grants: the id of one; or ${nameOf('user')}, ${nameOf('client')} or both; or ${nameOf('all')}`,
  grant_id_invalid: () => 'the grant must be the id of a grant, 43 characters: see grant list',
  grant_unknown: {
    text: ({ values: { id } }) => `there is no grant ${quoted(id)}`,
    next: () => ({ text: 'See', command: ['grant', 'list', '--ended'] }),
  },
  token_keys_invalid: ({ field }) =>
    `${field}: give the current value of TOKEN_KEYS, which has different keys of 32 random bytes in base64url, comma-separated`,
  id_token_keys_invalid: ({ field, values: { reason } }) => {
    if (reason === 'empty') return `${field}: it is empty: give the private keys of the token app`;
    if (reason === 'public') return `${field}: give the private keys, which the token app has`;
    return `${field}: this is not a value of ID_TOKEN_KEYS: ${reason}`;
  },
  algorithm_unknown: ({ field, values: { algorithms } }) => `${field} must be ${algorithms.join(', ')}`,
  type_unknown: ({ field, values: { given, types } }) =>
    `${field} ${quoted(given)} is unknown: the types are ${types.join(', ')}`,
  time_invalid: ({ field, values: { form } }) => `${field} must be ${form}`,
  client_missing: ({ field }) => `${field} is missing`,
  reference_of_proxy: ({ values: { given } }) =>
    `${quoted(given)} is a reference of the proxy (nginx): the request did not reach the service, because it was too large, exceeded a rate limit, or no process answered. Search the log of the proxy for it`,
  reference_invalid: ({ values: { given } }) =>
    `${quoted(given)} is not a reference: one has 12 letters, digits, - and _, like dhdpfs_iGBYa`,
  part_unknown: ({ field, values: { words } }) => `${field} must be one of ${words.join(', ')}`,
  severity_unknown: ({ field, values: { words } }) => `${field} must be ${words.join(' or ')}`,
} satisfies Partial<ProblemEntries<keyof Problems>>;
