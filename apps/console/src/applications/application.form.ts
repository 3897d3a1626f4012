import { isDeepStrictEqual } from 'node:util';
import type { AdministrationError } from '#platform/validation/administration.error.js';
import { describeProblem } from '#error-guide/problems/describe-problem.js';
import { fieldOfProblem } from '#error-guide/problems/problem-entry.js';
import { type ClientView, isApiClient } from '#clients/operations/client.description.js';
import { CLIENT_FLAGS, type ClientFlag, mapFlags } from '#clients/client-flags.js';
import { containsPrivateKey } from '#clients/registration/keys.js';
import { DEVICE_CODE } from '#oauth/device-authorization.js';
import { Form } from '#pages/form.js';

export const FLAG_TEXTS: Readonly<
  Record<ClientFlag, { readonly label: string; readonly true: string; readonly false: string }>
> = {
  requirePar: {
    label: 'Pushed authorization requests',
    true: 'Required (RFC 9126)',
    false: 'Optional',
  },
  requireState: {
    label: 'State parameter',
    true: 'Required',
    false: 'Optional, but the application must use PKCE',
  },
  firstParty: {
    label: 'Consent',
    true: 'Users are not asked, because the application is part of the product',
    false: 'Users are asked',
  },
  developerPortal: {
    label: 'Developer portal',
    true: 'Application owners log in to the developer portal by this application',
    false: 'No',
  },
};

const LABELS: Readonly<Record<string, string>> = {
  metadataUrl: 'Metadata document URL',
  name: 'Name',
  clientUri: 'Home page',
  policyUri: 'Privacy policy',
  contacts: 'Contacts',
  type: 'Where it runs',
  jwks: 'Public keys',
  addKeys: 'JWK or JWK Set',
  jwksUri: 'JWK Set URL',
  redirectUris: 'Redirect URIs',
  privateSchemes: 'Admitted schemes',
  postLogoutRedirectUris: 'Post-logout redirect URIs',
  backchannelLogoutUri: 'Back-channel logout URI',
  eventsUrl: 'URL that receives events',
  events: 'Events',
  eventsAuthorization: 'Authorization header',
  scopes: 'Scopes',
  optionalScopes: 'Optional scopes',
  profile: 'Profile',
  deviceGrant: 'Devices without a browser',
  ...mapFlags((flag) => FLAG_TEXTS[flag].label),
  idTokenAlg: 'ID token signing algorithm',
  subject: 'User identifier (sub)',
  logo: 'Logo',
};

export function labelOf(field: string): string {
  return (Object.hasOwn(LABELS, field) ? LABELS[field] : undefined) ?? field;
}

/** Problems of a form by field; the key '' holds problems that belong to no field of the form. */
export type Problems = ReadonlyMap<string, readonly string[]>;

export const NO_PROBLEMS: Problems = new Map();

export function problemsOf({ problems }: AdministrationError): Problems {
  const byField = new Map<string, string[]>();
  for (const problem of problems) {
    const field = fieldOfProblem(problem) ?? '';
    const known = Object.hasOwn(LABELS, field) ? field : '';
    byField.set(known, [...(byField.get(known) ?? []), describeProblem(problem, labelOf)]);
  }
  return byField;
}

/** Removes private keys that were given in place of public ones, so that no page repeats them. */
export function withoutPrivateKeys(form: Form): Form {
  for (const name of ['jwks', 'addKeys']) if (containsPrivateKey(form.text(name))) form.delete(name);
  return form;
}

const KINDS = ['server', 'keys', 'public'] as const;
export type Kind = (typeof KINDS)[number];

export function kindOf(form: Form): Kind {
  const kind = form.text('kind');
  return KINDS.find((known) => known === kind) ?? 'server';
}

function scopesOf(form: Form, ...wanted: readonly string[]): string[] {
  return [...form.entries()]
    .filter(([name, value]) => name.startsWith('scope:') && wanted.includes(value))
    .map(([name]) => name.slice('scope:'.length));
}

function commonFields(form: Form) {
  return {
    name: form.text('name'),
    clientUri: form.textOrNull('clientUri'),
    policyUri: form.textOrNull('policyUri'),
    contacts: form.lines('contacts'),
    redirectUris: form.lines('redirectUris'),
    privateSchemes: form.lines('privateSchemes'),
    postLogoutRedirectUris: form.lines('postLogoutRedirectUris'),
    backchannelLogoutUri: form.textOrNull('backchannelLogoutUri'),
    scopes: scopesOf(form, 'required', 'optional'),
    optionalScopes: scopesOf(form, 'optional'),
    deviceGrant: form.text('deviceGrant') === 'true',
    ...mapFlags((flag, { initially }) => (form.text(flag) || String(initially)) === 'true'),
    ...(form.text('idTokenAlg') !== '' && { idTokenAlg: form.text('idTokenAlg') }),
    subject: form.text('subject') || 'public',
  };
}

/** Returns true if a metadata document of the application provides all other fields. */
export function describesItself(form: Form): boolean {
  return form.text('metadataUrl') !== '';
}

export function newClientOf(form: Form): object {
  if (describesItself(form)) return { metadataUrl: form.text('metadataUrl').trim() };
  const kind = kindOf(form);
  return {
    ...commonFields(form),
    type: kind === 'public' ? 'public' : 'confidential',
    ...(kind === 'keys' && { jwksUri: form.textOrNull('jwksUri'), jwks: form.textOrNull('jwks') }),
    ...(form.text('profile') === 'fapi2' && { profile: 'fapi2' }),
  };
}

/** Confirmations of `ClientService.update`, which the form gets after the warning. */
export const CONFIRMATIONS = ['confirmNewSubjects', 'confirmConsole'] as const;

/** Input of `ClientService.update`. The form of an API client has no fields about users. */
export function changesOf(form: Form) {
  const { name, clientUri, policyUri, contacts, scopes, ...aboutUsers } = commonFields(form);
  return {
    name,
    clientUri,
    policyUri,
    contacts,
    scopes,
    ...(form.has('redirectUris') && aboutUsers),
    ...Object.fromEntries(confirmationsOf(form).map((name) => [name, true])),
  };
}

export function confirmationsOf(form: Form): string[] {
  return CONFIRMATIONS.filter((name) => form.text(name) === 'true');
}

/** Fields that do not change destinations, rights, or texts for users. */
const HARMLESS: ReadonlySet<string> = new Set(['contacts', ...CONFIRMATIONS]);

/** Returns true if the form changes any field that is not harmless. */
export function isDangerous(client: ClientView, form: Form): boolean {
  const before: Readonly<Record<string, unknown>> = changesOf(formOf(client));
  return Object.entries(changesOf(form)).some(
    ([field, value]) => !HARMLESS.has(field) && !isDeepStrictEqual(inOrder(value), inOrder(before[field])),
  );
}

/** Sorts a list, because a form has the scopes in the order of the catalogue. */
const inOrder = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(String).toSorted((a, b) => a.localeCompare(b)) : value;

/** Returns true if the operator may change the keys: a metadata document, a secret or a public client excludes this. */
export function hasOwnKeys({ type, live_secrets: secrets, document_due_at: due }: ClientView): boolean {
  return type === 'confidential' && secrets === 0 && due === undefined;
}

export function hasDeviceGrant({ grant_types: types = [] }: ClientView): boolean {
  return types.includes(DEVICE_CODE);
}

/** Returns the value of a flag in a form. */
export function flagText(client: ClientView, flag: ClientFlag): 'true' | 'false' {
  return client[CLIENT_FLAGS[flag].name] ? 'true' : 'false';
}

function aboutUsers(client: ClientView): [string, string][] {
  return [
    ['redirectUris', client.redirect_uris.join('\n')],
    ['privateSchemes', client.private_schemes.join('\n')],
    ['postLogoutRedirectUris', client.post_logout_redirect_uris.join('\n')],
    ['backchannelLogoutUri', client.backchannel_logout_uri ?? ''],
    ['deviceGrant', String(hasDeviceGrant(client))],
    ...Object.values(mapFlags((flag): [string, string] => [flag, flagText(client, flag)])),
    ['idTokenAlg', client.id_token_alg],
    ['subject', client.subject],
  ];
}

export function formOf(client: ClientView): Form {
  const entries: [string, string][] = [
    ['name', client.name],
    ['clientUri', client.client_uri ?? ''],
    ['policyUri', client.policy_uri ?? ''],
    ['contacts', client.contacts.join('\n')],
    ...(isApiClient(client) ? [] : aboutUsers(client)),
    ...client.scopes.map((name): [string, string] => [
      `scope:${name}`,
      client.optional_scopes.includes(name) ? 'optional' : 'required',
    ]),
  ];
  return new Form(entries);
}
