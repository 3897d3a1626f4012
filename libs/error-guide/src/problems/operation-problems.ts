import { quoted } from '#oauth/text.js';
import type { Problems } from '#platform/validation/problem.js';
import type { ProblemEntries } from './problem-entry.js';

const TRAIL: Readonly<Record<Problems['audit_trail_unavailable']['reason'], string>> = {
  unanswered: 'does not answer: the audit trail cannot be read',
  interrupted: 'does not answer: not all events were read',
  without_jetstream: 'has no JetStream, which stores the audit trail: turn it on, and run migrate',
};

function migrationText(values: Problems['migration_refused']): string {
  switch (values.reason) {
    case 'installed_elsewhere':
      return `the tables of this service are in the schema ${values.schema} of this database: set DATABASE_SCHEMA=${values.schema} for every app and command`;
    case 'foreign_tables':
      return `the schema ${values.schema} of this database has tables of another application (${values.tables.join(', ')}): this service needs a schema of its own. Set DATABASE_SCHEMA for every app and command to a new name: migrate creates the schema`;
    default:
      return `the role of DATABASE_URL may not create roles. An administrator of the server must first run: ${values.statements.join('; ')}`;
  }
}

/** Problems of grants, keys, the audit trail, running services and doctor. */
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
  migration_refused: ({ values }) => migrationText(values),
  streams_not_created: ({ values: { variable, reason } }) =>
    `NATS (${variable}) did not create or update the streams of the audit trail: ${reason}; it needs JetStream, and the administrator of the trail: docs/audit.md`,
  reference_of_proxy: ({ values: { given } }) =>
    `${quoted(given)} is a reference of the proxy (nginx): the request did not reach the service, because it was too large, exceeded a rate limit, or no process answered. Search the log of the proxy for it`,
  reference_unknown: ({ values }) => {
    if ('warning' in values) return values.warning;
    if ('similar' in values) return `similar references, in case of a typo: ${values.similar.join(', ')}`;
    const { reference, since } = values;
    return since === null
      ? `no event has the reference ${quoted(reference)}: the audit trail is empty; do the services run with this NATS_URL?`
      : `no event since ${since} UTC has the reference ${quoted(reference)}: check it for typos, try again if the request was just now, or search for it in the log of the service, which also has older requests and those without an event`;
  },
  reference_invalid: ({ values: { given } }) =>
    `${quoted(given)} is not a reference: one has 12 letters, digits, - and _, like dhdpfs_iGBYa`,
  part_unknown: ({ field, values: { words } }) => `${field} must be one of ${words.join(', ')}`,
  audit_trail_unavailable: ({ values: { variable, reason } }) => `NATS (${variable}) ${TRAIL[reason]}`,
  event_not_stored: ({ values: { variable, event } }) =>
    `NATS (${variable}) did not store this event of the audit trail: ${event}`,
  caches_not_invalidated: () =>
    'NATS (NATS_URL) does not answer: running services may take 30 s to notice the change',
  services_unanswered: () => 'NATS (NATS_URL) does not answer: the status of the services is unknown',
  status_unreadable: ({ values: { service } }) =>
    `a process of ${service} answered with a status that this version cannot read`,
  token_times_unknown: () =>
    'no token app answers over NATS (NATS_URL): the text does not say how long codes and retries are valid',
  client_names_unknown: () => 'PostgreSQL (DATABASE_URL) does not answer: give the client_id of the client',
  registrations_unknown: () =>
    'PostgreSQL (DATABASE_URL) does not answer: registrations, and the applications of API requests, are unknown',
  authorize_unavailable: () => 'no process of authorize answers over NATS (NATS_URL)',
  token_unavailable: () => 'no process of token answers over NATS (NATS_URL)',
  revocations_not_applied: ({ values: { done } }) =>
    `${done}, but the token service did not answer over NATS (NATS_URL): tokens may work until it is back, and stop within seconds after that`,
  keys_needed: ({ values: { keys }, nameOf }) =>
    `live tokens may need ${keys.map(({ id, until }) => `${id} until ${until}`).join(', ')}: without the key they would be refused. Run this again then; to begin another rotation earlier, add ${nameOf('begin')}`,
  keys_unknown: ({ values: { app } }) =>
    `no process of ${app} answers: its keys are unknown; start ${app}; if it runs, its NATS user must be allowed to subscribe to oauth.service.status.${app}`,
  token_keys_unused: () =>
    'no running process has this value of TOKEN_KEYS: give the current value, or restart authorize and token with this one first',
  token_keys_differ: ({ values: { processes } }) =>
    `${processes} still has another value of TOKEN_KEYS: wait until every process has restarted with the current one, then run this again`,
  key_unrecorded: ({ values: { id } }) =>
    `no process has recorded key ${id} in PostgreSQL yet: processes do so at their start and every minute after a failure, which their logs show`,
  algorithm_without_key: ({ values: { alg } }) =>
    `ID_TOKEN_KEYS has no key of ${alg}: the first key of an algorithm signs as soon as it is added, so add it by hand`,
  id_token_keys_unknown: ({ values: { app } }) =>
    `no process of ${app} answers: its keys of ID tokens are unknown; start ${app}; if it runs, its NATS user must be allowed to subscribe to oauth.service.status.${app}`,
  id_token_keys_differ: ({ values: { processes } }) =>
    `${processes} still has another value of ID_TOKEN_KEYS: give the current value, or restart every process of token with this one and of authorize with its public keys, then run this again`,
  key_published_recently: ({ values: { processes, publishedFor, wait } }) =>
    `${processes} has published the new key for less than ${publishedFor} s: applications may still cache a key set without it, and would refuse its ID tokens. Run this again in ${wait} s`,
  severity_unknown: ({ field, values: { words } }) => `${field} must be ${words.join(' or ')}`,
} satisfies Partial<ProblemEntries<keyof Problems>>;
