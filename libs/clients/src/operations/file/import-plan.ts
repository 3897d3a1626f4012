import type { KnownClients, TransferredClient } from '../../client-transfer.store.js';
import { REQUESTABLE_EVENTS } from '#events/event-type.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { at, type Problem, problem } from '#platform/validation/problem.js';
import { validate } from '#platform/validation/validate.js';
import { sectorOf } from '../../registration/openid-registration.js';
import {
  givenRegistration,
  hasGivenKeys,
  newProblems,
  Registration,
  scopeProblems,
  storedRegistration,
} from '../../registration/registration.js';
import { changedFields } from './client-file.js';
import { FileClient, type FileEntry } from './file-client.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    client_id_deleted: null;
    /** `now` is the registered value, which an import does not change. */
    file_value_fixed: { readonly now: string };
    subject_fixed: { readonly now: string; readonly clientId: string; readonly subject: string };
    secrets_with_keys: null;
    secrets_of_public_client: null;
    secrets_all_removed: null;
    secret_id_taken: { readonly id: string };
    secret_hash_mismatch: { readonly id: string };
    secret_revoked: { readonly id: string };
  }
}

/** `before` is null for a new client. */
export interface PlannedChange {
  readonly before: TransferredClient | null;
  readonly after: TransferredClient;
  readonly fields: readonly string[];
}

export interface ImportPlan {
  readonly changes: readonly PlannedChange[];
  readonly unchanged: number;
  /** Registered clients that are not in the file and stay unchanged. */
  readonly others: KnownClients['others'];
}

/**
 * @param now creation time of new clients without a date
 * @returns a plan of the clients without a problem; the paths of the problems begin at the file
 */
export function planImport(
  entries: ReadonlyMap<number, FileEntry>,
  known: KnownClients,
  catalogue: ScopeCatalogue,
  now: Date,
): { readonly plan: ImportPlan; readonly problems: readonly Problem[] } {
  const secretIds = new Set<string>();
  const planned = [...entries].map(([index, entry]) => {
    const before = known.clients.get(entry.clientId) ?? null;
    const { change, problems } = planClient(entry, before, catalogue, now);
    const found = [
      ...(known.deleted.has(entry.clientId) ? [problem('client_id_deleted', 'clientId')] : []),
      ...problems,
      ...secretProblems(entry, known, secretIds),
    ];
    return { change, problems: at(['clients', index], found) };
  });
  const changes = planned.flatMap(({ change }) => change ?? []);
  const effective = changes.filter(({ before, fields }) => before === null || fields.length > 0);
  return {
    plan: {
      changes: effective.toSorted(({ after: a }, { after: b }) => (a.clientId < b.clientId ? -1 : 1)),
      unchanged: changes.length - effective.length,
      others: known.others,
    },
    problems: planned.flatMap(({ problems }) => problems),
  };
}

/** @returns no change if the client has a problem */
function planClient(
  { clientId, fields, secrets, logo, problems: entryProblems }: FileEntry,
  before: TransferredClient | null,
  catalogue: ScopeCatalogue,
  now: Date,
): { readonly change?: PlannedChange; readonly problems: readonly Problem[] } {
  const keepsKeys = before && fields['jwks'] === undefined && fields['jwksUri'] === undefined;
  const keys = keepsKeys && { jwks: before.jwks, jwksUri: before.jwksUri };
  const { dto, problems: broken } = validate(FileClient, { ...keys, ...fields });
  const registered = before && validate(Registration, givenRegistration(before)).problems;
  const problems = [...entryProblems, ...newProblems(broken, registered ?? [])];
  if (!dto) return { problems };
  const { eventsUrl: _url, events, ...registration } = dto;
  const receiver = receiverOf(dto, before?.receiver ?? null);
  problems.push(
    ...newProblems(
      scopeProblems('scopes', dto.scopes, catalogue),
      scopeProblems('scopes', before?.scopes ?? [], catalogue),
    ),
    ...(before ? fixedProblems(dto, before) : []),
    ...secretListProblems(dto, secrets, before?.secrets ?? []),
    ...(events && !receiver ? [problem('receiver_url_invalid', 'eventsUrl')] : []),
  );
  if (problems.length > 0) return { problems };
  const after = {
    ...storedRegistration(registration),
    clientId,
    type: dto.type,
    disabled: dto.disabled,
    createdAt: before?.createdAt ?? (dto.createdAt === undefined ? now : new Date(dto.createdAt)),
    // A registered secret keeps its exact time, because the file contains only the day.
    secrets: (secrets ?? before?.secrets ?? []).map(
      (secret) => before?.secrets.find(({ id }) => id === secret.id) ?? secret,
    ),
    logo,
    receiver,
  };
  return { change: { before, after, fields: before ? changedFields(before, after) : [] }, problems };
}

/** A file without the members keeps the receiver, which the application can change, too. */
function receiverOf(
  { eventsUrl, events }: Pick<FileClient, 'eventsUrl' | 'events'>,
  before: TransferredClient['receiver'],
): TransferredClient['receiver'] {
  const url = eventsUrl ?? before?.eventsUrl;
  return url === undefined
    ? null
    : { eventsUrl: url, events: events ?? before?.events ?? REQUESTABLE_EVENTS };
}

function fixedProblems(client: FileClient, before: TransferredClient): Problem[] {
  const { clientId, subject } = client;
  const sector = subject === 'pairwise' ? sectorOf(client.redirectUris) : null;
  const now = before.sector === null ? 'public' : `pairwise at ${before.sector}`;
  return [
    ...(['type', 'grantType'] as const)
      .filter((field) => before[field] !== client[field])
      .map((field) => problem('file_value_fixed', field, { now: before[field] })),
    // The application would see its users as new users, so this change needs a confirmation.
    ...(before.sector === sector ? [] : [problem('subject_fixed', 'subject', { now, clientId, subject })]),
  ];
}

function secretListProblems(
  client: FileClient,
  secrets: FileEntry['secrets'],
  registered: TransferredClient['secrets'],
): Problem[] {
  if (client.type === 'public') return secrets ? [problem('secrets_of_public_client', 'secrets')] : [];
  if (hasGivenKeys(client))
    return (secrets ?? registered).length > 0 ? [problem('secrets_with_keys', 'secrets')] : [];
  return secrets?.length === 0 && registered.length > 0 ? [problem('secrets_all_removed', 'secrets')] : [];
}

/** @param owned ids of the secrets of earlier clients in the file, to which this client's ids are added */
function secretProblems(
  { clientId, secrets }: FileEntry,
  known: KnownClients,
  owned: Set<string>,
): Problem[] {
  return (secrets ?? []).flatMap(({ id, hash }, index): Problem[] => {
    const path = ['secrets', index];
    const stored = known.secrets.get(id);
    const isTaken = owned.has(id) || (stored && stored.clientId !== clientId);
    owned.add(id);
    if (isTaken) return [problem('secret_id_taken', path, { id })];
    if (stored && !stored.hash.equals(hash)) return [problem('secret_hash_mismatch', path, { id })];
    return stored?.isRevoked ? [problem('secret_revoked', path, { id })] : [];
  });
}
