import { quoted, shellWords } from '#oauth/text.js';
import type { Problems } from '#platform/validation/problem.js';
import type { ProblemEntries } from './problem-entry.js';

/** Problems of clients, their secrets, and the accounts of APIs. */
export const CLIENT_PROBLEMS = {
  client_unknown: {
    text: ({ values: { id } }) => `there is no client ${quoted(id)}`,
    next: () => ({ text: 'See', command: ['client', 'list'] }),
  },
  client_ambiguous: ({ values }) =>
    'candidate' in values
      ? values.candidate
      : `${values.count} applications are called ${quoted(values.given)}: give the client_id of one of them`,
  client_registered: ({ values: { clientId } }) => `${clientId} is registered already, or was deleted`,
  public_client: ({ values: { clientId } }) =>
    `${clientId} is a public client: it uses PKCE instead of a secret`,
  key_client: {
    text: ({ values: { clientId } }) => `${clientId} authenticates with its keys, and has no secret`,
    next: ({ clientId }) => ({
      text: 'To change that',
      command: ['client', 'update', clientId, '--jwks', 'none'],
    }),
  },
  two_live_secrets: {
    text: ({ values: { secret } }) => {
      if (!secret) return 'the client already has two live secrets: revoke the one that is no longer used';
      const used = secret.lastUsedAt ? `last used ${secret.lastUsedAt}` : 'never used';
      return `secret ${secret.id} (created ${secret.createdOn}, ${used})`;
    },
    next: (values) =>
      values.secret && {
        text: '',
        command: ['client', 'secret', 'revoke', values.clientId, values.secret.id],
      },
  },
  last_live_secret: {
    text: ({ values: { isConsole }, nameOf }) => {
      const effect = isConsole
        ? 'operators cannot log in to the console until CONSOLE_CLIENT_SECRET is another secret'
        : 'the application cannot authenticate';
      return `this is the last live secret: without it, ${effect}. Give ${nameOf('force')}, or create another one first`;
    },
    next: ({ clientId }) => ({ text: '', command: ['client', 'secret', 'rotate', clientId] }),
  },
  secret_unknown: {
    text: ({ values: { secretId } }) => `the client has no live secret ${quoted(secretId)}`,
    next: ({ clientId }) => ({ text: 'See', command: ['client', 'secret', 'list', clientId] }),
  },
  resource_server_unknown: {
    text: ({ values: { id } }) => `there is no resource server ${quoted(id)}`,
    next: () => ({ text: 'See', command: ['resource-server', 'list'] }),
  },
  keys_missing: ({ nameOf }) =>
    `the account would have neither keys nor a secret: give ${nameOf('jwks')} or ${nameOf('jwksUri')}`,
  import_running: () => 'another import is still running: try again later',
  confirmConsole: ({ values }) =>
    `operators log in to the console by this application: nobody could log in there. The way back is: operator ${shellWords(wayBack(values))}`,
  confirmNewSubjects: ({ values: { clientId, grants } }) =>
    `${clientId} has ${grants} live grant${grants === 1 ? '' : 's'}: with another subject their users look new to it`,
} satisfies Partial<ProblemEntries<keyof Problems>>;

const TURNED_OFF = {
  requirePar: ['--require-par', 'false'],
  jwks: ['--jwks', 'none'],
  jwksUri: ['--jwks-uri', 'none'],
};

function wayBack({ clientId, lost }: Problems['confirmConsole']): string[] {
  if (lost === 'client') return ['client', 'create', '--help'];
  if (lost === 'enabled') return ['client', 'enable', clientId];
  return [
    'client',
    'update',
    clientId,
    ...lost.redirectUris.flatMap((uri) => ['--add-redirect-uri', uri]),
    ...lost.scopes.flatMap((name) => ['--add-scope', name]),
    ...lost.unsupported.flatMap((field) => TURNED_OFF[field]),
  ];
}

/** Problems of the configuration of an event stream. */
export const EVENT_PROBLEMS = {
  event_unknown: {
    text: ({ values: { jti } }) => `there is no event ${quoted(jti)}: it may be older than two weeks`,
    next: () => ({ text: 'See', command: ['event', 'list'] }),
  },
  flow_impossible: () => 'the portal cannot run the flow of this application',
  flow_step_early: () => 'the step needs the result of an earlier one',
  refused_request_unknown: ({ values: { id } }) => `there is no refused request ${quoted(id)}`,
  event_waits: ({ values: { jti } }) => `the event ${jti} still waits for its receiver`,
  receiver_url_invalid: ({ field }) =>
    `${field} must be an https URL without a user name and without a fragment, of at most 2,000 characters`,
  receiver_header_invalid: ({ field }) => `${field} must be the value of an Authorization header`,
  event_stream_missing: {
    text: ({ values: { clientId } }) => `${quoted(clientId)} has no event stream`,
    next: ({ clientId }) => ({
      text: 'Register its receiver',
      command: ['client', 'update', clientId, '--events-url', 'https://…'],
    }),
  },
  event_types_missing: ({ field, values: { known } }) => `${field} must name events: ${known.join(', ')}`,
  event_type_unknown: ({ field, values: { given, known } }) =>
    `${field} has no event ${quoted(given)}: use ${known.join(', ')}`,
  events_invalid: ({ field, values: { max } }) => `${field} must be a list of at most ${max} URIs`,
  description_invalid: ({ field, values: { max } }) => `${field} must be a text of at most ${max} characters`,
  verification_state_invalid: ({ field, values: { max } }) =>
    `${field} must be a text of at most ${max} characters`,
} satisfies Partial<ProblemEntries<keyof Problems>>;
