import type { ClientLogo, ClientWithSecrets } from '#database/client/client.js';
import { type ClientKeys, type ClientType, generateClientSecret, hasKeys } from '#oauth/client.js';
import type {
  ChangedRegistration,
  ClientRegistration,
  Deletion,
} from '#database/client/client-registration.store.js';
import { recordCommand } from '../audit/record-command.js';
import { DependencyUnavailableError } from '#platform/dependency-unavailable.error.js';
import { InputError, quoted } from '../command-line/input.js';
import { warn } from '../command-line/output.js';
import { commandToPaste } from '../command-line/shell.js';
import { withStores } from '../connections/database.connection.js';
import { applyRevocations, publishClientChanged } from '../connections/nats.connection.js';
import type { Stores } from '../connections/stores.js';
import type { ChangeSettings, DatabaseSettings } from '../settings/settings.js';
import {
  type ClientChangesDto,
  MAX_REDIRECT_URIS,
  type NewClientDto,
  orNone,
  optionalScopeProblems,
  postLogoutProblems,
  redirectUriProblems,
  rotationProblems,
} from './client.dto.js';
import { sectorOf, sectorProblems, storedAlgorithm, subjectOf } from './openid-registration.js';

export async function registerClient(
  settings: DatabaseSettings,
  {
    name,
    redirectUri,
    scope,
    optionalScope,
    requirePar,
    state,
    firstParty,
    postLogoutRedirectUri,
    backchannelLogoutUri,
    idTokenAlg,
    subject,
    clientUri,
    policyUri,
    contacts,
    ...options
  }: NewClientDto,
  logo: ClientLogo | undefined,
  keys: ClientKeys | undefined,
): Promise<{ clientId: string; secret: string | null }> {
  const isFapi = options.profile === 'fapi2';
  const credential = options.public || keys ? null : generateClientSecret();
  const { clientId } = await withStores(settings, ({ clients }) =>
    clients.create({
      name,
      type: options.public ? 'public' : 'confidential',
      redirectUris: redirectUri,
      scopes: scope,
      optionalScopes: optionalScope,
      requirePar: requirePar || isFapi,
      requireState: state === 'required' && !isFapi,
      rules: {
        dpopBound: options.dpopBound || isFapi,
        keepsRefreshToken: options.refreshTokenRotation === 'off' || isFapi,
        profile: isFapi ? 'fapi2' : null,
      },
      firstParty,
      logoutUris: { postLogoutRedirectUris: postLogoutRedirectUri, backchannelLogoutUri },
      idTokenAlg: storedAlgorithm(idTokenAlg),
      sector: subject === 'pairwise' ? sectorOf(redirectUri) : null,
      links: { clientUri, policyUri, contacts },
      ...(logo && { logo }),
      ...(keys && { keys }),
      ...(credential && { secretHash: credential.hash }),
    }),
  );
  return { clientId, secret: credential?.secret ?? null };
}

export const CLIENT = 'its client_id, or its name if no other application has it';

/** Returns an unknown name unchanged: it may be the id of a deleted client. @throws InputError if the name is ambiguous */
export async function identify({ clients }: Pick<Stores, 'clients'>, idOrName: string): Promise<string> {
  const [clientId = idOrName, ...others] = await clients.identify(idOrName);
  if (others.length === 0) return clientId;
  throw new InputError([
    `${others.length + 1} applications are called ${quoted(idOrName)}: give the client_id of one of them`,
    clientId,
    ...others,
  ]);
}

export function clientIdOf(settings: DatabaseSettings, idOrName: string): Promise<string> {
  return withStores(settings, (stores) => identify(stores, idOrName));
}

const GENERATED_ID = /^sc_[a-z2-7]{24}$/;

/**
 * Returns the client id for a search in the audit trail, which outlives clients and is readable without PostgreSQL. A generated id is
 * never a name: otherwise an application with this name would hide the events of a deleted one.
 */
export async function clientIdInTrail(settings: DatabaseSettings, idOrName: string): Promise<string> {
  if (GENERATED_ID.test(idOrName)) return idOrName;
  try {
    return await clientIdOf(settings, idOrName);
  } catch (error) {
    if (!(error instanceof DependencyUnavailableError)) throw error;
    warn('PostgreSQL (DATABASE_URL) does not answer: --client must be a client_id');
    return idOrName;
  }
}

/** @throws InputError if the client does not exist */
export async function findClient(settings: DatabaseSettings, idOrName: string): Promise<ClientWithSecrets> {
  const client = await withStores(settings, async (stores) =>
    stores.clients.find(await identify(stores, idOrName)),
  );
  if (!client) throw unknownClient(idOrName);
  return client;
}

/** @returns null if the client is unknown or deleted */
export async function nameOf(settings: DatabaseSettings, clientId: string): Promise<string | null> {
  return withStores(settings, async ({ clients }) => (await clients.find(clientId))?.name ?? null);
}

/** Contents of the files of `client update`; undefined keeps what is registered. */
export interface ReadFiles {
  /** Null removes it. */
  readonly logo?: ClientLogo | null;
  readonly keys?: ClientKeys;
}

export async function updateClient(
  settings: DatabaseSettings,
  clientId: string,
  changes: ClientChangesDto,
  files: ReadFiles,
): Promise<{ before: ClientRegistration; updated: ClientWithSecrets }> {
  let before: ClientRegistration | undefined;
  const updated = await withStores(settings, async ({ clients, registrations }) => {
    const done = await registrations.update(clientId, (current, of) => {
      before = current;
      return applyChanges({ clientId, ...of }, current, changes, files);
    });
    return done && clients.find(clientId);
  });
  if (!updated || !before) throw unknownClient(clientId);
  return { before, updated };
}

/** Safe to repeat: the change is broadcast again. @returns false if the client was already disabled */
export function disableClient(settings: ChangeSettings, clientId: string): Promise<boolean> {
  return setDisabled(settings, clientId, true);
}

export function enableClient(settings: ChangeSettings, clientId: string): Promise<boolean> {
  return setDisabled(settings, clientId, false);
}

async function setDisabled(settings: ChangeSettings, clientId: string, disabled: boolean): Promise<boolean> {
  const changed = await withStores(settings, ({ registrations }) =>
    registrations.setDisabled(clientId, disabled),
  );
  if (changed === null) throw unknownClient(clientId);
  await publishClientChanged(settings.NATS_URL, clientId);
  const type = disabled ? 'client.disabled' : 'client.enabled';
  await recordCommand(settings, { type, client_id: clientId });
  return changed;
}

/** Safe to repeat after a failure. @throws InputError if the client never existed; Error if the services do not answer */
export async function deleteClient(settings: ChangeSettings, clientId: string): Promise<Deletion> {
  const deletion = await withStores(settings, ({ registrations }) => registrations.delete(clientId));
  if (!deletion) throw unknownClient(clientId);
  // Order matters: the broadcast stops new tokens before existing ones are revoked.
  await publishClientChanged(settings.NATS_URL, clientId);
  const detail = { revoked_grants: deletion.revokedGrants };
  try {
    await applyRevocations(settings.NATS_URL, { client_id: clientId }, 'the client is deleted');
  } finally {
    await recordCommand(settings, { type: 'client.deleted', client_id: clientId, detail });
  }
  return deletion;
}

export function unknownClient(clientId: string): InputError {
  return new InputError([`there is no client ${quoted(clientId)}. See:${commandToPaste('client', 'list')}`]);
}

/**
 * Returns the sector after the change. Without a new subject it stays: then every redirect URI has its host. The order of redirect
 * URIs does not matter, because all have the same host.
 */
function newSector(
  current: ClientRegistration,
  {
    subject,
    addRedirectUri,
    removeRedirectUri,
  }: Pick<ClientChangesDto, 'subject' | 'addRedirectUri' | 'removeRedirectUri'>,
): string | null {
  if (subject === undefined) return current.sector;
  const kept = current.redirectUris.filter((uri) => !removeRedirectUri.includes(uri));
  return subject === 'public' ? null : sectorOf([...kept, ...addRedirectUri]);
}

/** Counts the live grants of a client whose users would get another `sub` by the change; 0 if none would. */
export function grantsWithNewSubject(
  settings: DatabaseSettings,
  clientId: string,
  changes: ClientChangesDto,
): Promise<number> {
  return withStores(settings, async ({ clients, grants }) => {
    const current = await clients.find(clientId);
    if (!current || newSector(current, changes) === current.sector) return 0;
    const [live] = await grants.countLive({ clientId });
    return live?.count ?? 0;
  });
}

/** A removed scope is also removed from the optional scopes. @throws InputError that lists every problem */
function applyChanges(
  { clientId, type, hasSecrets }: { clientId: string; type: ClientType; hasSecrets: boolean },
  current: ClientRegistration,
  changes: ClientChangesDto,
  { logo, keys = current }: ReadFiles,
): ChangedRegistration {
  const { name = current.name, addScope, removeScope } = changes;
  const scope = changes.scope ?? [
    ...current.scopes.filter((one) => !removeScope.includes(one)),
    ...addScope.filter((one) => !current.scopes.includes(one)),
  ];
  const { optionalScope = current.optionalScopes, requirePar, state, firstParty } = changes;
  const { clientUri, policyUri, contacts = current.contacts, idTokenAlg } = changes;
  const { addRedirectUri: added, removeRedirectUri: removed } = changes;
  const kept = current.redirectUris.filter((uri) => !removed.includes(uri));
  const redirectUris = [...kept, ...added];
  const { subject = subjectOf(current) } = changes;
  const sector = changes.subject === undefined ? current.sector : null;
  const problems = [
    ...removed
      .filter((uri) => !current.redirectUris.includes(uri))
      .map(
        (uri) =>
          `--remove-redirect-uri ${quoted(uri)} is not registered. See:${commandToPaste('client', 'show', clientId)}`,
      ),
    ...added
      .filter((uri) => kept.includes(uri))
      .map((uri) => `--add-redirect-uri ${quoted(uri)} is registered already: leave it out`),
    ...redirectUriProblems('--add-redirect-uri', added, type),
    ...(subject === 'pairwise'
      ? sectorProblems(changes.subject ? 'redirect URI' : '--add-redirect-uri', redirectUris, sector)
      : []),
    ...removeScope
      .filter((one) => !current.scopes.includes(one))
      .map(
        (one) =>
          `--remove-scope ${quoted(one)} is not registered. See:${commandToPaste('client', 'show', clientId)}`,
      ),
    ...addScope
      .filter((one) => current.scopes.includes(one))
      .map((one) => `--add-scope ${quoted(one)} is registered already: leave it out`),
    ...postLogoutProblems('--post-logout-redirect-uri', changes.postLogoutRedirectUri ?? [], type),
    ...optionalScopeProblems('--optional-scope', changes.optionalScope ?? [], scope),
  ];
  if (hasKeys(keys) && type === 'public')
    problems.push('a public client has no keys: it uses PKCE (RFC 6749 2.1)');
  if (hasKeys(keys) && hasSecrets)
    problems.push(
      `the application has a secret, and may not have keys as well (RFC 6749 2.3): revoke it first, with --force. See:${commandToPaste('client', 'secret', 'list', clientId)}`,
    );
  const dpopBound = changes.dpopBound === undefined ? current.dpopBound : changes.dpopBound === 'true';
  const rotation = changes.refreshTokenRotation;
  const keepsRefreshToken = rotation === undefined ? current.keepsRefreshToken : rotation === 'off';
  if (keepsRefreshToken) problems.push(...rotationProblems('off', dpopBound));
  if (current.profile === 'fapi2' && !(keepsRefreshToken && hasKeys(keys) && requirePar !== 'false'))
    problems.push(
      'the application is registered for fapi2, which requires keys, pushed requests, and refresh tokens that do not rotate (FAPI 2.0 5.3.2.1)',
    );
  if (scope.length === 0) problems.push('no scope would be left: add one in the same command');
  if (redirectUris.length === 0)
    problems.push('no redirect URI would be left: add the new one in the same command');
  if (redirectUris.length > MAX_REDIRECT_URIS)
    problems.push(`more than ${MAX_REDIRECT_URIS} redirect URIs: remove some in the same command`);
  if (problems.length > 0) throw new InputError(problems);
  return {
    name,
    redirectUris,
    scopes: scope,
    optionalScopes: optionalScope.filter((optional) => scope.includes(optional)),
    requirePar: requirePar === undefined ? current.requirePar : requirePar === 'true',
    requireState: state === undefined ? current.requireState : state === 'required',
    firstParty: firstParty === undefined ? current.firstParty : firstParty === 'true',
    postLogoutRedirectUris: changes.postLogoutRedirectUri ?? current.postLogoutRedirectUris,
    backchannelLogoutUri:
      changes.backchannelLogoutUri === undefined
        ? current.backchannelLogoutUri
        : orNone(changes.backchannelLogoutUri),
    idTokenAlg: idTokenAlg === undefined ? current.idTokenAlg : storedAlgorithm(idTokenAlg),
    sector: newSector(current, changes),
    clientUri: clientUri === undefined ? current.clientUri : orNone(clientUri),
    policyUri: policyUri === undefined ? current.policyUri : orNone(policyUri),
    contacts,
    jwks: keys.jwks,
    jwksUri: keys.jwksUri,
    dpopBound,
    keepsRefreshToken,
    profile: current.profile,
    ...(logo !== undefined && { logo }),
  };
}
