import { Injectable } from '@nestjs/common';
import { AUDIT_KINDS, AUDIT_TYPES, type AuditEvent, type AuditType } from '#audit/event.js';
import type { AuditFilter } from '#audit/filter.js';
import type { AuditReader, AuditStreamState } from '#audit/reader.js';
import { ClientStore } from '#database/client/client.store.js';
import { GrantAdministrationStore } from '#database/grant/grant-administration.store.js';
import { AdministrationError } from '../administration.error.js';
import { AdministrationOptions, readableScopes } from '../administration.options.js';
import { AuditIndex } from '../audit-index/audit-index.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { INDEX_BEHIND } from '../audit/audit.service.js';
import { MOMENT, parseTime } from '../audit/moment.js';
import { clientIdInTrail, unknownClient } from '../client/client-lookup.js';
import { Rule, Text, type Input, validated } from '../input.js';
import { quoted } from '../text.js';
import { clientIdOf, type Explanation, explanationOf, isRefusal } from './explanation.js';
import { type GrantOwner, GrantOwners } from './grant-owners.js';
import { isSimilar, referenceIn, searchedSince } from './reference.js';
import { type RefusalSummary, SummaryBuilder } from './refusal-summary.js';

/** Milliseconds before and after a request for which the client's other events are shown. */
const AROUND_MS = 5 * 60_000;
const MAX_AROUND = 40;
/** Limit of the events after a request that are read from the index. If there are more, the latest are read. */
const MAX_INDEXED = 1_000;
/** All processes record their events of a request within this time. */
const ONE_REQUEST_MS = 60_000;
const MAX_SIMILAR = 5;
const BATCH = 500;
const DAY_MS = 24 * 60 * 60_000;

/** Types that are searched first, because they are rare and nearly every reported reference belongs to them. */
const REFUSALS: readonly AuditType[] = [
  ...AUDIT_KINDS.refusals.types,
  'token.reuse_detected',
  'grant.revoked',
  'consent.denied',
];

const USES: readonly AuditType[] = [
  'token.issued',
  'token.refreshed',
  'token.retried',
  'token.reuse_detected',
];
const MAX_USES = 20;

export type Progress = (read: number, total: number) => void;

export interface ExplainedRequest {
  readonly explanation: Explanation;
  readonly around: readonly AuditEvent[];
  /** Latest uses of the grant, if a code or token was reused; otherwise empty. */
  readonly uses: readonly AuditEvent[];
}

interface ReadEvents {
  readonly events: readonly AuditEvent[];
  /** True if some events were not read, because they are not indexed yet. */
  readonly isBehind: boolean;
}

/** Reads the events that explain a request. */
interface EventSource {
  request(reference: string): Promise<ReadEvents & { readonly similar: readonly string[] }>;
  around(clientId: string, at: number): Promise<ReadEvents>;
  uses(grantId: string): Promise<ReadEvents>;
}

const NO_EVENTS: ReadEvents = { events: [], isBehind: false };

export interface ClientSummary extends RefusalSummary {
  readonly client_id: string;
  readonly since: string;
}

type WithWarnings<Result> = Result & { readonly warnings: readonly string[] };

class SummaryDto {
  @Text()
  @Rule('client_missing', ({ client }: SummaryDto) => (client === undefined ? ['‹client› is missing'] : []))
  client: string;

  @Text()
  @Rule('time_invalid', ({ since }: SummaryDto) =>
    parseTime(since) ? [] : [`‹since› ${quoted(since)} is not a time: give ${MOMENT}`],
  )
  since = '1h';
}

/**
 * Explains refused requests. Without PostgreSQL, `explainIndexed` fails, and the other methods return less information.
 */
@Injectable()
export class ExplainService {
  constructor(
    private readonly clients: ClientStore,
    private readonly grants: GrantAdministrationStore,
    private readonly trail: AuditTrail,
    private readonly options: AdministrationOptions,
    private readonly index: AuditIndex,
  ) {}

  /** @param text text with the `error_reference`, which may be in quotes or follow the field name */
  explain(text: string, progress: Progress = () => undefined): Promise<WithWarnings<ExplainedRequest>> {
    return this.explainBy((reader) => wholeTrail(reader, progress), text);
  }

  /** Like `explain`, but in bounded time: finds older requests only if indexed, and suggests no similar references. */
  explainIndexed(text: string): Promise<WithWarnings<ExplainedRequest>> {
    return this.explainBy((reader) => indexed(reader, this.index), text);
  }

  private async explainBy(
    sourceOf: (reader: AuditReader) => EventSource,
    text: string,
  ): Promise<WithWarnings<ExplainedRequest>> {
    const reference = referenceIn(text);
    return this.trail.read(async (reader) => {
      const owners = new GrantOwners(this.clients, this.grants);
      const scopes = readableScopes(this.options)?.names ?? null;
      const source = sourceOf(reader);
      const { events, similar, isBehind } = await source.request(reference);
      if (!isNotEmpty(events))
        throw unknownReference(reference, similar, await reader.streams(), isBehind ? [INDEX_BEHIND] : []);
      const explained = await explainEvents(source, owners, reference, events, scopes);
      const behind = isBehind || explained.isBehind ? [INDEX_BEHIND] : [];
      return { ...explained.request, warnings: [...owners.warnings, ...behind] };
    });
  }

  /** @param input see `SummaryDto` */
  async summarize(
    input: Input<SummaryDto>,
    progress: Progress = () => undefined,
  ): Promise<WithWarnings<ClientSummary>> {
    const { client, since: text } = validated(SummaryDto, input);
    const since = parseTime(text) ?? new Date();
    const { clientId, warnings } = await clientIdInTrail(this.clients, client);
    return this.trail.read(async (reader) => {
      const owners = new GrantOwners(this.clients, this.grants);
      const summary = await summarize(reader, owners, { clientId, since }, progress);
      const { refused, logouts, succeeded } = summary;
      if (refused + logouts + succeeded === 0 && (await owners.client(clientId)) === null)
        throw unknownClient(clientId);
      return {
        client_id: clientId,
        since: since.toISOString(),
        ...summary,
        warnings: [...warnings, ...owners.warnings],
      };
    });
  }
}

async function explainEvents(
  source: EventSource,
  owners: GrantOwners,
  reference: string,
  events: readonly [AuditEvent, ...AuditEvent[]],
  scopes: readonly string[] | null,
): Promise<{ readonly request: ExplainedRequest; readonly isBehind: boolean }> {
  const owner = await ownerOf(events, owners);
  const id = clientIdOf(events, owner);
  const client = id === null ? undefined : await owners.client(id);
  const explanation = explanationOf(reference, events, owner, { client, scopes });
  const { event, clientId, grantId } = explanation;
  const at = Date.parse(event.time);
  // Without a client id, the filter would match every client.
  const around = clientId === null ? NO_EVENTS : await source.around(clientId, at);
  const isReuse = event.type === 'token.reuse_detected' && grantId !== null;
  const uses = isReuse ? await source.uses(grantId) : NO_EVENTS;
  const others = around.events.filter((other) => other.reference !== reference);
  return {
    request: { explanation, around: nearest(others, at), uses: uses.events },
    isBehind: around.isBehind || uses.isBehind,
  };
}

function nearest(events: readonly AuditEvent[], at: number): AuditEvent[] {
  const distance = ({ time }: AuditEvent) => Math.abs(Date.parse(time) - at);
  return events
    .toSorted((a, b) => distance(a) - distance(b))
    .slice(0, MAX_AROUND)
    .toSorted((a, b) => a.time.localeCompare(b.time));
}

/** Reads the whole trail to find a request, and the minutes around the request. */
function wholeTrail(reader: AuditReader, progress: Progress): EventSource {
  return {
    async request(reference) {
      const similar = new Set<string>();
      const others = AUDIT_TYPES.filter((type) => !REFUSALS.includes(type));
      // NATS filters by type and time, not by reference. Most references are reported on the same day.
      const passes = [
        { types: REFUSALS, since: new Date(Date.now() - DAY_MS) },
        { types: REFUSALS },
        { types: others },
      ];
      for (const pass of passes) {
        const events = await eventsOf(reader, { reference, ...pass, similar, progress });
        if (events.length > 0) return { events, similar: [], isBehind: false };
      }
      return { ...NO_EVENTS, similar: [...similar] };
    },
    async around(clientId, at) {
      const around: AuditEvent[] = [];
      for await (const event of reader.read({ since: new Date(at - AROUND_MS) }, progress)) {
        if (Date.parse(event.time) > at + AROUND_MS) break;
        if (event.client_id === clientId) around.push(event);
      }
      return { events: around, isBehind: false };
    },
    async uses(grantId) {
      const uses: AuditEvent[] = [];
      for await (const use of reader.read({ grantId, types: USES }, progress)) {
        uses.push(use);
        if (uses.length > MAX_USES) uses.shift();
      }
      return { events: uses, isBehind: false };
    },
  };
}

/** Reads only the parts of the trail that may contain the events. */
function indexed(reader: AuditReader, index: AuditIndex): EventSource {
  const streams = reader.streams();
  const find = async (filter: AuditFilter, limit: number): Promise<ReadEvents> => {
    const { events, isBehind } = await index.find(reader, filter, limit, undefined, streams);
    return { events: events.toReversed(), isBehind };
  };
  return {
    async request(reference) {
      return { ...(await find({ reference }, MAX_AROUND)), similar: [] };
    },
    async around(clientId, at) {
      const middle = new Date(at);
      const [before, after] = await Promise.all([
        find({ clientId, since: new Date(at - AROUND_MS), until: middle }, MAX_AROUND),
        find({ clientId, since: middle, until: new Date(at + AROUND_MS) }, MAX_INDEXED),
      ]);
      return {
        events: [...before.events, ...after.events],
        isBehind: before.isBehind || after.isBehind,
      };
    },
    uses: (grantId) => find({ grantId, types: USES }, MAX_USES),
  };
}

/** Summarizes all refused requests of a client, including those that APIs refused. */
async function summarize(
  reader: AuditReader,
  owners: GrantOwners,
  { clientId, since }: { readonly clientId: string; readonly since: Date },
  progress: Progress,
): Promise<RefusalSummary> {
  const summary = new SummaryBuilder();
  let unassigned: AuditEvent[] = [];
  const assign = async () => {
    const grants = [...new Set(unassigned.map(({ grant_id: id = '' }) => id))];
    const own = grants.length === 0 ? null : await owners.ofClient(clientId, grants);
    for (const event of unassigned) if (own?.has(event.grant_id ?? '')) summary.add(event);
    unassigned = [];
  };
  for await (const event of reader.read({ since }, progress)) {
    if (event.client_id === clientId) summary.add(event);
    else if (event.client_id === undefined && event.grant_id !== undefined && isRefusal(event))
      unassigned.push(event);
    if (unassigned.length === BATCH) await assign();
  }
  await assign();
  return summary.build();
}

/** Looks up the grant of a request if no event names the client. */
async function ownerOf(events: readonly AuditEvent[], owners: GrantOwners): Promise<GrantOwner | null> {
  const grantId = events.find(({ grant_id: id }) => id !== undefined)?.grant_id;
  const isNamed = events.some(({ client_id: id }) => id !== undefined);
  return isNamed || grantId === undefined ? null : owners.find(grantId);
}

async function eventsOf(
  reader: AuditReader,
  wanted: {
    readonly reference: string;
    readonly types: readonly AuditType[];
    readonly since?: Date;
    readonly similar: Set<string>;
    readonly progress: Progress;
  },
): Promise<AuditEvent[]> {
  const { reference, types, since, similar, progress } = wanted;
  const events: AuditEvent[] = [];
  // Not filtered by reference: the loop ends soon after the request, and collects similar references.
  for await (const event of reader.read({ types, since }, progress)) {
    const [first] = events;
    if (first && Date.parse(event.time) > Date.parse(first.time) + ONE_REQUEST_MS) break;
    if (event.reference === undefined) continue;
    if (event.reference === reference) events.push(event);
    else if (similar.size < MAX_SIMILAR && isSimilar(event.reference, reference))
      similar.add(event.reference);
  }
  return events;
}

function isNotEmpty<T>(list: readonly T[]): list is readonly [T, ...T[]] {
  return list.length > 0;
}

function unknownReference(
  reference: string,
  similar: readonly string[],
  streams: readonly AuditStreamState[],
  warnings: readonly string[],
): AdministrationError {
  const messages = [
    streams.every(({ first }) => first === null)
      ? `no event has the reference ${quoted(reference)}: the audit trail is empty; do the services run with this NATS_URL?`
      : `no event since ${searchedSince(streams)} UTC has the reference ${quoted(reference)}: check it for typos, ` +
        'try again if the request was just now, or search for it in the log of the service, which also has older requests and those without an event',
    ...warnings,
    ...(similar.length > 0 ? [`similar references, in case of a typo: ${similar.join(', ')}`] : []),
  ];
  return new AdministrationError(
    'unknown',
    messages.map((message) => ({ id: 'reference_unknown', message })),
  );
}
