import { quoted } from '#oauth/text.js';
import type { Problems } from '#platform/validation/problem.js';
import { keyText, PRIVATE_SCHEME_TEXTS, redirectUriText } from '../protocol-texts.js';
import type { ProblemEntries } from './problem-entry.js';

function uriText(field: string, { given, reason }: Problems['redirect_uri_invalid']): string {
  const subject = `${field} ${quoted(given)}`;
  if (reason === 'repeated') return `${subject} is given twice: give it once`;
  if (reason === 'reserved')
    return `${subject} has an origin of this service: give an address of the application`;
  return `${subject} ${redirectUriText(reason, given)}`;
}

const SAME_HOST = 'a pairwise subject needs the same host in every redirect URI (OpenID Connect Core 8.1)';

function grantTypeText(
  field: string,
  values: Problems['grant_type_invalid'],
  nameOf: (field: string) => string,
) {
  switch (values.reason) {
    case 'no_users':
      return `${field} is not possible with client_credentials: such a client has no users`;
    case 'no_keys':
      return `${nameOf('jwks')} is missing: a client of client_credentials has no secret`;
    case 'fapi2':
      return `${field} is not possible with fapi2`;
    case 'user_scope':
      return `${field} ${quoted(values.given)} is not a scope of the HTTP API`;
    default:
      return `${field} ${quoted(values.given)} is only for clients of client_credentials`;
  }
}

function logoText(values: Problems['logo_invalid']): string {
  switch (values.reason) {
    case 'unreadable':
      return 'is not a complete PNG, JPEG or WebP image, or cannot be read: convert it';
    case 'svg':
      return 'is an SVG, which can hold scripts and load from elsewhere: convert it to PNG or WebP';
    case 'bytes':
      return `is larger than ${values.max / 1024} KiB: make it smaller, since every page loads it`;
    default:
      return `is ${values.width} by ${values.height} pixels: scale it to ${values.max} by ${values.max} at most`;
  }
}

function documentUrlText(values: Problems['document_url_invalid']): string {
  switch (values.reason) {
    case 'form':
      return 'must be an https URL of at most 255 visible ASCII characters';
    case 'http':
      return 'must be https';
    case 'userinfo':
      return 'must have no user name and no password';
    case 'fragment':
      return 'must have no fragment';
    case 'path':
      return 'must have a path, like https://app.example.com/client.json';
    default:
      return `must be in the form that browsers send: ${values.href}`;
  }
}

const NO_SECRET = 'a published secret is no secret';

/** Problems of a registration, wherever it comes from. */
const REGISTRATION = {
  redirect_uri_missing: () =>
    'a redirect URI is missing: give the address users return to, like https://app.example.com/callback',
  redirect_uri_invalid: ({ field, values }) => uriText(field, values),
  post_logout_redirect_uri_invalid: ({ field, values }) => uriText(field, values),
  backchannel_logout_uri_invalid: ({ field, values }) => uriText(field, values),
  list_too_long: ({ field, values: { max } }) => `${field} has more than ${max}: give fewer`,
  link_invalid: ({ field }) => `${field} must be an https URL`,
  contact_invalid: ({ field, values: { given } }) =>
    `${field} ${quoted(given)} must be an email address or an https URL`,
  keys_invalid: ({ field, values }) => `${field} ${keyText(values)}`,
  jwks_uri_invalid: ({ field }) => `${field} must be an https URL without user name and fragment`,
  public_client_with_keys: ({ field }) =>
    `${field}: a public client cannot keep a private key either, and uses PKCE (RFC 6749 2.1)`,
  private_scheme_invalid: ({ field, values: { given, reason } }) =>
    `${field} ${quoted(given)} ${PRIVATE_SCHEME_TEXTS[reason]}`,
  private_scheme_confidential: ({ field }) => `${field} is for public clients, which must use PKCE`,
  scope_missing: ({ values: { scopes } }) =>
    `a scope is missing: give one or more${scopes.length > 0 ? ` of ${scopes.join(', ')}` : ''}`,
  scope_unknown: ({ field, values: { name, scopes } }) =>
    scopes
      ? `${field} ${quoted(name)} is unknown: the scopes are ${scopes.join(' ')}`
      : `there is no scope ${quoted(name)}`,
  optional_scope_invalid: ({ field, values: { given } }) =>
    `${field} ${quoted(given)} is not among its scopes: add it to them as well`,
  grant_type_invalid: ({ field, values, nameOf }) => grantTypeText(field, values, nameOf),
  profile_invalid: ({ nameOf }) =>
    `${nameOf('profile')} fapi2 needs ${nameOf('jwks')} or ${nameOf('jwksUri')}, ${nameOf('requirePar')}, and ${nameOf('refreshTokenRotation')} off (FAPI 2.0 5.3.2)`,
  algorithm_invalid: ({ field }) => `${field} must be ES256 or EdDSA for fapi2 (FAPI 2.0 5.4.1)`,
  rotation_invalid: ({ nameOf }) =>
    `${nameOf('refreshTokenRotation')} off needs ${nameOf('dpopBound')}: only a key protects a refresh token that does not rotate (RFC 9700 4.14.2)`,
  sector_missing: () => 'a redirect URI is missing: the subjects of a pairwise client depend on its host',
  sector_without_host: ({ field, values: { given } }) =>
    `${field}: ${quoted(given)} has no host of its own, which a pairwise subject needs: register it with the subject public`,
  sectors_differ: ({ field, values: { hosts } }) =>
    `${field}: the redirect URIs have several hosts, ${hosts.join(', ')}: ${SAME_HOST}`,
  logo_invalid: ({ field, values }) => `${field} ${logoText(values)}`,
} satisfies Partial<ProblemEntries<keyof Problems>>;

/** Problems of operations on registrations. */
const CHANGES = {
  nothing_to_change: () => 'nothing to change: give at least one field',
  fields_exclude_each_other: ({ field, values: { others }, nameOf }) =>
    `${field} and ${others.map(nameOf).join(', ')} exclude each other: leave out the one or the other`,
  not_registered: {
    text: ({ field, values: { given } }) => `${field} ${quoted(given)} is not registered`,
    next: ({ clientId }) => ({ text: 'See', command: ['client', 'show', clientId] }),
  },
  registered_already: ({ field, values: { given } }) =>
    `${field} ${quoted(given)} is registered already: leave it out`,
  sector_fixed: ({ field, values: { sector }, nameOf }) =>
    `${field}: a redirect URI is not at ${sector}: ${SAME_HOST}. To move to another host, give ${nameOf('subject')} as well`,
  keys_at_jwks_uri: ({ nameOf }) =>
    `the keys of the application are at its ${nameOf('jwksUri')}: change them there, or give ${nameOf('jwks')}`,
  key_missing: () =>
    'no key would be left, and the application could not authenticate: add the new one first',
  client_has_secrets: {
    text: ({ nameOf }) =>
      `the application has a secret, and may not have keys as well (RFC 6749 2.3): revoke it first, with ${nameOf('force')}`,
    next: ({ clientId }) => ({ text: 'See', command: ['client', 'secret', 'list', clientId] }),
  },
  described_by_document: ({ field }) =>
    `${field}: the application has a metadata document: its scopes and the rules for its requests can be changed here, and nothing else`,
  console_url_missing: ({ field }) =>
    `${field} client_credentials is for the HTTP API of the console: set CONSOLE_URL to its address`,
  guide_invalid: ({ field }) => `${field} must be an http or https URL`,
} satisfies Partial<ProblemEntries<keyof Problems>>;

/** Problems of metadata documents, for the operator and the publisher. */
const DOCUMENTS = {
  metadata_document_invalid: ({ values: { url, reason } }) =>
    `the document at ${url} cannot be used: ${reason}`,
  document_url_invalid: ({ field, values }) => `${field} ${documentUrlText(values)}`,
  document_not_json: () => 'it is not a JSON object',
  document_content_type: () => 'its Content-Type is not application/json',
  document_member_repeated: ({ values: { name } }) => `the member ${quoted(name)} is given twice`,
  document_member_unsupported: ({ field }) =>
    `${field} demands what this service cannot do: remove it if the application works without it`,
  document_client_id_mismatch: ({ field }) =>
    `${field} must be the URL of the document, character by character`,
  document_secret: ({ field }) => `${field} must be absent: ${NO_SECRET}`,
  document_list_incomplete: ({ field, values: { needed } }) => `${field} must include ${quoted(needed)}`,
  document_method_secret: ({ values: { method } }) => `${method} is refused: ${NO_SECRET}`,
  document_method_unsupported: ({ field, values: { methods } }) =>
    `${field} must be none or private_key_jwt, and is ${methods.map(quoted).join(', ') || 'missing'}`,
  document_keys_missing: ({ nameOf }) =>
    `private_key_jwt needs either ${nameOf('jwks')} or ${nameOf('jwksUri')}`,
  document_host_full: ({ values: { host, max } }) => `${host} has ${max} clients already`,
} satisfies Partial<ProblemEntries<keyof Problems>>;

/** Problems of client files. */
const FILES = {
  file_syntax: ({ values: { message } }) => message,
  file_malformed: ({ values: { version } }) =>
    `it must be a map with version: ${version} and the list clients, as "client export" writes it`,
  file_version_unknown: ({ field, values: { version } }) => `${field} must be ${version}`,
  file_clients_missing: ({ field }) => `${field} must be a list`,
  file_client_malformed: () => 'a client must be a map with client_id, name, type, redirect_uris and scopes',
  file_value_fixed: ({ field, values: { now } }) =>
    `${field} is ${now}, and cannot be changed: register another client`,
  client_id_invalid: ({ field }) => `${field} must be 1 to 255 characters of visible ASCII`,
  client_id_of_document: ({ field }) =>
    `${field} must not be a URL: that is the client_id of a metadata document`,
  client_id_of_api_client: ({ field }) => `${field} must begin with sc_, for client_credentials`,
  client_id_deleted: ({ field }) =>
    `${field} was deleted, and its identifier is never assigned again: choose another one`,
  client_repeated: ({ field, values: { clientId } }) => `${field} ${quoted(clientId)} is in the file twice`,
  value_repeated: ({ field, values: { given } }) => `${field} ${quoted(given)} is given twice`,
  created_at_invalid: ({ field }) => `${field} must be a time like 2026-01-31T12:00:00.000Z`,
  subject_fixed: {
    text: ({ field, values: { now } }) => `${field} is ${now} now, and an import does not change it`,
    next: ({ clientId, subject }) => ({
      text: 'First',
      command: ['client', 'update', clientId, '--subject', subject],
    }),
  },
  secrets_malformed: ({ field, values: { max } }) => `${field} must be a list of at most ${max}`,
  secret_id_malformed: ({ field }) => `${field} must be a UUID in lower case`,
  secret_hash_malformed: ({ field }) => `${field} must be 64 hexadecimal digits in lower case`,
  day_invalid: ({ field }) => `${field} must be a day like 2026-01-31`,
  secrets_of_public_client: ({ field }) => `${field}: a public client has none: remove them (RFC 6749 2.1)`,
  secrets_with_keys: ({ field }) =>
    `${field}: an application with keys has none (RFC 6749 2.3): give an empty list to revoke them, or "jwks: null" to remove the keys`,
  secrets_all_removed: ({ field }) =>
    `${field}: without any secret, the application could not authenticate: leave "secrets" out to keep them`,
  secret_id_taken: ({ field, values: { id } }) => `${field}: the id ${quoted(id)} belongs to another secret`,
  secret_hash_mismatch: ({ field, values: { id } }) =>
    `${field}: the secret ${quoted(id)} has another hash: a new secret needs a new id`,
  secret_revoked: ({ field, values: { id } }) =>
    `${field}: the secret ${quoted(id)} was revoked, and cannot be used again: remove it`,
  logo_malformed: ({ field }) => `${field} must have media_type, and the image in base64`,
  logo_media_type_mismatch: ({ field, values: { mediaType } }) =>
    `${field}: its media_type must be ${mediaType}`,
} satisfies Partial<ProblemEntries<keyof Problems>>;

export const REGISTRATION_PROBLEMS = { ...REGISTRATION, ...CHANGES, ...DOCUMENTS, ...FILES };
