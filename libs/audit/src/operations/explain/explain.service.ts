import { Injectable } from '@nestjs/common';
import { ClientStore } from '#clients/client.store.js';
import { EventStore } from '#events/event.store.js';
import { type EventView, eventView } from '#events/operations/event.service.js';
import { GrantAdministrationStore } from '#grants/records/grant-administration.store.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { AdministrationOptions, readableScopes } from '#operations/administration.options.js';
import { AuditTrail } from '#operations/audit-trail.js';
import { problem } from '#platform/validation/problem.js';
import type { AuditEvent } from '../../event.js';
import type { AuditReader, AuditStreamState, Progress } from '../../reader.js';
import { AuditIndex } from '../index/audit-index.js';
import { INDEX_BEHIND } from '../audit.service.js';
import { type EventSource, indexed, MAX_AROUND, NO_EVENTS, wholeTrail } from './event-source.js';
import { clientIdOf, type Explanation, explanationOf } from './explanation.js';
import { type GrantOwner, GrantOwners } from './grant-owners.js';
import { referenceIn, searchedSince } from './refusal-summary.js';
import { markedText } from './comparison.js';
import { isClientId } from '#oauth/oauth-client.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    /** `since` is null for an empty trail. A typo may have `similar` references. */
    reference_unknown:
      | { readonly reference: string; readonly since: string | null }
      | { readonly similar: readonly string[] }
      | { readonly warning: string };
  }
}

export interface ExplainedRequest {
  readonly explanation: Explanation;
  readonly around: readonly AuditEvent[];
  /** Latest uses of the grant, if a code or token was reused; otherwise empty. */
  readonly uses: readonly AuditEvent[];
  /** Latest events (docs/events.md) and logout tokens to the application about the grant or the user. */
  readonly deliveries: readonly EventView[];
}

const MAX_TOLD = 10;

type WithWarnings<Result> = Result & { readonly warnings: readonly string[] };

/** Explains a refused request. Without PostgreSQL, `explainIndexed` fails, and `explain` returns less information. */
@Injectable()
export class ExplainService {
  constructor(
    private readonly clients: ClientStore,
    private readonly grants: GrantAdministrationStore,
    private readonly trail: AuditTrail,
    private readonly options: AdministrationOptions,
    private readonly index: AuditIndex,
    private readonly events: EventStore,
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
      const deliveries = await this.deliveriesAbout(explained.request.explanation, owners);
      const behind = isBehind || explained.isBehind ? [INDEX_BEHIND] : [];
      return {
        ...explained.request,
        deliveries,
        warnings: [...owners.warnings, ...explained.warnings, ...behind],
      };
    });
  }

  private async deliveriesAbout(
    { clientId, grantId: grant, userId }: Explanation,
    owners: GrantOwners,
  ): Promise<EventView[]> {
    const grantId = grant !== null && isClientId(grant) ? grant : null;
    if (clientId === null || !isClientId(clientId) || (grantId === null && userId === null)) return [];
    const found = await owners.ask(() => this.events.about(clientId, { grantId, userId }, MAX_TOLD), []);
    return found.map(eventView);
  }
}

async function explainEvents(
  source: EventSource,
  owners: GrantOwners,
  reference: string,
  events: readonly [AuditEvent, ...AuditEvent[]],
  scopes: readonly string[] | null,
): Promise<{
  readonly request: Omit<ExplainedRequest, 'deliveries'>;
  readonly isBehind: boolean;
  readonly warnings: readonly string[];
}> {
  const owner = await ownerOf(events, owners);
  const id = clientIdOf(events, owner);
  const client = id === null ? undefined : await owners.client(id);
  const documentProblem = client?.document?.problem ?? null;
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
    warnings: documentProblem === null ? [] : [`metadata document of the application: ${documentProblem}`],
  };
}

function nearest(events: readonly AuditEvent[], at: number): AuditEvent[] {
  const distance = ({ time }: AuditEvent) => Math.abs(Date.parse(time) - at);
  return events
    .toSorted((a, b) => distance(a) - distance(b))
    .slice(0, MAX_AROUND)
    .toSorted((a, b) => a.time.localeCompare(b.time));
}

/** Looks up the grant of a request if no event names the client. */
async function ownerOf(events: readonly AuditEvent[], owners: GrantOwners): Promise<GrantOwner | null> {
  const grantId = events.find(({ grant_id: id }) => id !== undefined)?.grant_id;
  const isNamed = events.some(({ client_id: id }) => id !== undefined);
  return isNamed || grantId === undefined ? null : owners.find(grantId);
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
  const since = streams.every(({ first }) => first === null) ? null : searchedSince(streams);
  return new AdministrationError('unknown', [
    problem('reference_unknown', [], { reference, since }),
    ...warnings.map((warning) => problem('reference_unknown', [], { warning })),
    ...(similar.length > 0 ? [problem('reference_unknown', [], { similar })] : []),
  ]);
}

export function explanationJson(
  { explanation, around, uses, deliveries }: ExplainedRequest,
  commandOf: (words: readonly string[]) => string | readonly string[],
): object {
  const { event, others, comparison, remedies } = explanation;
  return {
    reference: explanation.reference,
    client_id: explanation.clientId,
    user_id: explanation.userId,
    grant_id: explanation.grantId,
    check: event.check ?? null,
    title: explanation.title,
    meaning: explanation.meaning,
    values: comparison.values,
    differences: comparison.differences.map((difference) => ({
      sent: difference.sent,
      expected: difference.expected,
      marked: markedText(difference),
    })),
    remedies: remedies.map(({ commands, ...remedy }) => ({
      ...remedy,
      commands: commands.map((words) => commandOf(words)),
    })),
    event,
    other_events: others,
    around,
    uses,
    deliveries,
  };
}
