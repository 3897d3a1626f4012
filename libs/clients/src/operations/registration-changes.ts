import type { ChangedRegistration, ClientRegistration } from '../client-registration.store.js';
import type { ClientLogo } from '../client.js';
import type { ClientJwk } from '#oauth/client-assertion/client-keys.js';
import type { ClientKeys, ClientType } from '#oauth/oauth-client.js';
import { thumbprintOf } from '#oauth/jwk.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { AdministrationError, refuseInvalid } from '#platform/validation/administration.error.js';
import { checked, type Input } from '#operations/operation-input.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import { fieldsOf, validate } from '#platform/validation/validate.js';
import { ClientMetadata } from '../registration/client-metadata.js';
import { asJwkSet, readKeySet } from '../registration/keys.js';
import { readLogo } from '../registration/logo.js';
import { sectorOf } from '../registration/openid-registration.js';
import {
  givenRegistration,
  hasGivenKeys,
  newProblems,
  Registration,
  scopeProblems,
  storedRegistration,
} from '../registration/registration.js';
import { type ClientChanges, ListChangesDto } from './client.dto.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    nothing_to_change: null;
    not_registered: { readonly given: string; readonly clientId: string };
    registered_already: { readonly given: string };
    sector_fixed: { readonly sector: string };
    keys_at_jwks_uri: null;
    key_missing: null;
    client_has_secrets: { readonly clientId: string };
    described_by_document: null;
  }
}

export interface CheckedChanges {
  readonly lists: ListChangesDto;
  /** New values, which `changedRegistration` checks together with the registered ones. */
  readonly fields: Input<Registration>;
  /** Null removes the logo; undefined keeps the logo. */
  readonly logo?: ClientLogo | null;
}

const LIST_FIELDS: ReadonlySet<string> = new Set(fieldsOf(ListChangesDto));
const CONDITIONS: ReadonlySet<string> = new Set(['confirmConsole', 'confirmNewSubjects', 'expectedVersion']);
/** Fields that replace what others add and remove. */
const EXCLUSIVE = [
  ['scopes', 'addScopes', 'removeScopes'],
  ['redirectUris', 'addRedirectUris', 'removeRedirectUris'],
  ['jwks', 'addKeys', 'removeKeys'],
  ['jwksUri', 'addKeys', 'removeKeys'],
] as const;

/** Makes the checks that do not depend on the registration. @throws AdministrationError that lists every problem */
export async function checkClientChanges(
  input: ClientChanges,
  catalogueOf: () => ScopeCatalogue,
): Promise<CheckedChanges> {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const { dto: lists, problems } = checked(
    ListChangesDto,
    Object.fromEntries(given.filter(([field]) => LIST_FIELDS.has(field))),
  );
  const fields: Input<Registration> = Object.fromEntries(given.filter(([field]) => !LIST_FIELDS.has(field)));
  const isGiven = givenBy({ lists, fields });
  const { problems: logoProblems, ...logo } = await readLogo(fields.logo);
  refuseInvalid([
    ...problems,
    ...(given.some(([field]) => isGiven(field) && !CONDITIONS.has(field))
      ? []
      : [problem('nothing_to_change', [])]),
    ...EXCLUSIVE.filter(([field, ...others]) => isGiven(field) && others.some(isGiven)).map(
      ([field, ...others]) => problem('fields_exclude_each_other', field, { others }),
    ),
    ...(['scopes', 'addScopes'] as const).flatMap((field) => {
      const names = field === 'scopes' ? fields.scopes : lists.addScopes;
      return isTexts(names) && names.length > 0 ? scopeProblems(field, names, catalogueOf()) : [];
    }),
    ...logoProblems,
  ]);
  return { lists, fields, ...logo };
}

/** The fields of the registration have any type until `changedRegistration` has checked them. */
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const givenBy =
  ({ lists, fields }: CheckedChanges) =>
  (field: string): boolean => {
    if (!LIST_FIELDS.has(field)) return Object.hasOwn(fields, field);
    const { [field as keyof ListChangesDto]: value } = lists;
    return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
  };

export interface RegisteredState {
  readonly clientId: string;
  readonly type: ClientType;
  readonly hasSecrets: boolean;
  readonly hasDocument: boolean;
}

/** @throws AdministrationError that lists every problem */
export function changedRegistration(
  state: RegisteredState,
  current: ClientRegistration,
  changes: CheckedChanges,
): ChangedRegistration {
  const before = givenRegistration({ ...current, type: state.type });
  const { dto, problems } = validate(Registration, { ...before, ...applied(current, changes) });
  const found = [
    ...newProblems(problems, validate(Registration, before).problems),
    ...['type', 'grantType', 'profile']
      .filter((field) => Object.hasOwn(changes.fields, field))
      .map((field) => problem('unknown_field', field)),
    ...listProblems(state, current, changes),
    ...(dto ? stateProblems(state, current, dto, changes) : []),
  ];
  if (!dto || found.length > 0)
    throw new AdministrationError(
      'invalid',
      found.map((each) => ofGivenField(each, changes)),
    );
  return { ...storedRegistration(dto), ...(changes.logo !== undefined && { logo: changes.logo }) };
}

/** Fields that change the same part of a registration, or parts that depend on each other. */
const RELATED = [
  ['redirectUris', 'addRedirectUris', 'removeRedirectUris', 'subject', 'privateSchemes', 'deviceGrant'],
  ['postLogoutRedirectUris', 'privateSchemes'],
  ['scopes', 'addScopes', 'removeScopes'],
  ['jwks', 'jwksUri', 'addKeys', 'removeKeys', 'type'],
  ['refreshTokenRotation', 'dpopBound'],
  ['profile', 'requirePar', 'refreshTokenRotation', 'jwks', 'jwksUri', 'removeKeys'],
] as const satisfies readonly (readonly (keyof ClientChanges | keyof Registration)[])[];

/** Moves a problem of a field that the caller did not give to the field that caused the problem. */
function ofGivenField(found: Problem, changes: CheckedChanges): Problem {
  const isGiven = givenBy(changes);
  const [name = '', ...rest] = found.path;
  if (isGiven(String(name))) return found;
  const fields: readonly string[] = RELATED.find(([...group]) => group.some((field) => field === name)) ?? [];
  const field = fields.find(isGiven);
  return field === undefined ? found : { ...found, path: [field, ...rest] };
}

/** Returns new values of fields, of any type. A removed scope is also removed from the optional scopes. */
function applied(current: ClientRegistration, { lists, fields }: CheckedChanges): object {
  const { addRedirectUris, removeRedirectUris, addScopes, removeScopes } = lists;
  const redirectUris = withChanges(current.redirectUris, addRedirectUris, removeRedirectUris);
  const { scopes = withChanges(current.scopes, addScopes, removeScopes) } = fields;
  return {
    redirectUris,
    optionalScopes: current.optionalScopes.filter((scope) => !isTexts(scopes) || scopes.includes(scope)),
    ...keysAfter(current, { lists, fields }),
    ...fields,
    scopes,
  };
}

function withChanges(current: readonly string[], added: readonly string[], removed: readonly string[]) {
  const kept = current.filter((value) => !removed.includes(value));
  return [...kept, ...added.filter((value) => !kept.includes(value))];
}

function keysAfter(current: ClientKeys, { lists, fields }: CheckedChanges): object {
  if (fields.jwks !== undefined || fields.jwksUri !== undefined) return { jwks: null, jwksUri: null };
  const { removeKeys } = lists;
  const added = addedKeys(lists);
  if (current.jwksUri !== null || added.length + removeKeys.length === 0) return {};
  const kept = keptKeys(current, removeKeys);
  const known = new Set(kept.map(thumbprintOf));
  const keys = [...kept, ...added.filter((key) => !known.has(thumbprintOf(key)))];
  return keys.length === 0 ? {} : { jwks: { keys } };
}

const addedKeys = ({ addKeys }: ListChangesDto): readonly ClientJwk[] =>
  addKeys === undefined ? [] : readKeySet(asJwkSet(addKeys)).keys;

const keptKeys = ({ jwks }: ClientKeys, removed: readonly string[]): ClientJwk[] =>
  (jwks?.keys ?? []).filter((key) => !namesOf(key).some((name) => removed.includes(name)));

const namesOf = (key: ClientJwk): string[] => [
  ...(key.kid === undefined ? [] : [key.kid]),
  thumbprintOf(key),
];

function listProblems({ clientId }: RegisteredState, current: ClientRegistration, changes: CheckedChanges) {
  const { lists } = changes;
  const { addRedirectUris, removeRedirectUris, addScopes, removeScopes, removeKeys } = lists;
  const added = addedKeys(lists);
  const isRemote = current.jwksUri !== null && added.length + removeKeys.length > 0;
  const keys = keptKeys(current, removeKeys).map(thumbprintOf);
  const isEmptied = current.jwks !== null && keys.length + added.length === 0;
  const names = (current.jwks?.keys ?? []).flatMap(namesOf);
  const unknown = (field: string, values: readonly string[], registered: readonly string[]) =>
    values
      .filter((value) => !registered.includes(value))
      .map((given) => problem('not_registered', field, { given, clientId }));
  const repeated = (field: string, values: readonly string[], registered: readonly string[]) =>
    values
      .filter((value) => registered.includes(value))
      .map((given) => problem('registered_already', field, { given }));
  const keptUris = withChanges(current.redirectUris, [], removeRedirectUris);
  return [
    ...unknown('removeRedirectUris', removeRedirectUris, current.redirectUris),
    ...repeated('addRedirectUris', addRedirectUris, keptUris),
    ...unknown('removeScopes', removeScopes, current.scopes),
    ...repeated('addScopes', addScopes, current.scopes),
    ...(isRemote
      ? [problem('keys_at_jwks_uri', added.length > 0 ? 'addKeys' : 'removeKeys')]
      : [
          ...unknown('removeKeys', removeKeys, names),
          ...repeated('addKeys', added.map(thumbprintOf), keys),
          ...(isEmptied ? [problem('key_missing', 'removeKeys')] : []),
        ]),
  ];
}

/** Fields that only the metadata document may set, and two that are unsafe because the document can change. */
const DOCUMENT_FIELDS = [
  ...fieldsOf(ClientMetadata),
  'privateSchemes',
  'firstParty',
  'subject',
] as readonly (keyof Registration)[];

function stateProblems(
  { clientId, type, hasSecrets, hasDocument }: RegisteredState,
  current: ClientRegistration,
  changed: Registration,
  { fields }: CheckedChanges,
): Problem[] {
  const { sector } = current;
  const isMoved =
    sector !== null && fields.subject === undefined && sectorOf(changed.redirectUris) !== sector;
  const before: Partial<Registration> = givenRegistration({ ...current, type });
  const described = DOCUMENT_FIELDS.filter(
    (field) => hasDocument && JSON.stringify(changed[field]) !== JSON.stringify(before[field]),
  );
  return [
    ...(isMoved ? [problem('sector_fixed', 'redirectUris', { sector })] : []),
    ...(hasSecrets && hasGivenKeys(changed) ? [problem('client_has_secrets', 'jwks', { clientId })] : []),
    ...described.map((field) => problem('described_by_document', field)),
  ];
}
