import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import type { AuditEvent } from '../../event.js';
import type { AuditReader, Progress } from '../../reader.js';
import type { EventCount } from '../../index/audit-index.store.js';
import { ClientStore } from '#clients/client.store.js';
import { GrantAdministrationStore } from '#grants/records/grant-administration.store.js';
import { AuditIndex } from '../index/audit-index.js';
import { nextStart, startOf, type Unit } from '../index/page-of-events.js';
import { AuditTrail } from '#operations/audit-trail.js';
import { INDEX_BEHIND } from '../audit.service.js';
import { IsTime, parseTime } from '../audit.dto.js';
import { unknownClient } from '#clients/client.js';
import { clientIdInTrail } from '#clients/operations/client-lookup.js';
import { type Input, validated } from '#operations/operation-input.js';
import { reports } from '#platform/validation/problem.js';
import { isRefusal } from './explanation.js';
import { GrantOwners } from './grant-owners.js';
import { type RefusalSummary, SummaryBuilder, summaryOfCounts } from './refusal-summary.js';

/** Maximum length in hours of a history with hourly counts. A longer history contains daily counts. */
const MAX_HOURS = 48;
/** Maximum length in days, because a chart with more columns would be illegible. */
const MAX_DAYS = 92;
/** Number of events without a client whose grants are looked up together. */
const BATCH = 500;

/** Event counts of an hour, or of a day in UTC. */
export interface HistoryPeriod {
  readonly start: string;
  readonly issued: number;
  readonly refreshed: number;
  /** Keyed by check, or by error for requests without a check. */
  readonly refused: Readonly<Record<string, number>>;
  /** Uses of a code or token that may be stolen: a second use, or a use with a wrong `code_verifier`. */
  readonly misused: number;
}

export interface ClientHistory extends RefusalSummary {
  readonly clientId: string;
  readonly name: string | null;
  readonly unit: Unit;
  readonly since: string;
  /** Every period from `since` on, including periods without events. */
  readonly periods: readonly HistoryPeriod[];
  readonly warnings: readonly string[];
}

export interface ClientSummary extends RefusalSummary {
  readonly client_id: string;
  readonly since: string;
}

const MISUSES: ReadonlySet<string> = new Set(['code_replayed', 'refresh_token_reused', 'verifier_mismatch']);

declare module '#platform/validation/problem.js' {
  interface Problems {
    client_missing: null;
  }
}

class PeriodDto {
  @IsString(reports('client_missing'))
  client: string;

  @IsTime()
  since?: string;
}

/**
 * Counts the requests of a client, and groups the refused requests by cause. Without PostgreSQL, `read` fails, and
 * `summarize` returns less information.
 */
@Injectable()
export class ClientHistoryService {
  constructor(
    private readonly clients: ClientStore,
    private readonly grants: GrantAdministrationStore,
    private readonly trail: AuditTrail,
    private readonly index: AuditIndex,
  ) {}

  /** @param input see `PeriodDto`. The history begins at a full hour or day, and covers at most 92 days. */
  async read(input: Input<PeriodDto>, now = Date.now()): Promise<ClientHistory> {
    const { client: idOrName, since: text = '1d' } = validated(PeriodDto, input);
    const { clientId } = await clientIdInTrail(this.clients, idOrName);
    const requested = Math.min(parseTime(text, now)?.getTime() ?? now, now);
    const unit = now - requested <= MAX_HOURS * 3_600_000 ? 'hour' : 'day';
    const since = startOf(unit, Math.max(requested, now - MAX_DAYS * 86_400_000));
    const owners = new GrantOwners(this.clients, this.grants);
    const client = await owners.client(clientId);
    const { counts, isBehind } = await this.trail.read((reader) =>
      this.index.counts(reader, clientId, new Date(since), unit, async (grantIds) =>
        grantIds.length === 0 ? new Set() : owners.ofClient(clientId, [...new Set(grantIds)]),
      ),
    );
    if (client === null && counts.length === 0) throw unknownClient(clientId);
    return {
      clientId,
      name: client?.name ?? null,
      unit,
      since: new Date(since).toISOString(),
      periods: periodsOf(counts, unit, since, now),
      ...summaryOfCounts(counts),
      warnings: [...owners.warnings, ...(isBehind ? [INDEX_BEHIND] : [])],
    };
  }

  /** Reads all events of the period. @param input see `PeriodDto` */
  async summarize(
    input: Input<PeriodDto>,
    progress?: Progress,
  ): Promise<ClientSummary & { readonly warnings: readonly string[] }> {
    const { client, since: text = '1h' } = validated(PeriodDto, input);
    const since = parseTime(text) ?? new Date();
    const { clientId, warnings } = await clientIdInTrail(this.clients, client);
    return this.trail.read(async (reader) => {
      const owners = new GrantOwners(this.clients, this.grants);
      const summary = await summaryOfTrail(reader, owners, { clientId, since }, progress);
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

/** Summarizes all refused requests of a client, including those that APIs refused. */
async function summaryOfTrail(
  reader: AuditReader,
  owners: GrantOwners,
  { clientId, since }: { readonly clientId: string; readonly since: Date },
  progress: Progress | undefined,
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

export function periodsOf(
  counts: readonly EventCount[],
  unit: Unit,
  since: number,
  now: number,
): HistoryPeriod[] {
  const periods: HistoryPeriod[] = [];
  for (let start = since; start <= now; start = nextStart(unit, start)) {
    const inPeriod = counts.filter((count) => count.start.getTime() === start);
    const sum = (isCounted: (count: EventCount) => boolean) =>
      inPeriod.filter(isCounted).reduce((total, { count }) => total + count, 0);
    const refused = Object.create(null) as Record<string, number>;
    for (const { check, error, count } of inPeriod)
      if (check + error !== '') refused[check || error] = (refused[check || error] ?? 0) + count;
    periods.push({
      start: new Date(start).toISOString(),
      issued: sum(({ type }) => type === 'token.issued'),
      refreshed: sum(({ type }) => type === 'token.refreshed'),
      refused,
      misused: sum(({ type, check }) => type === 'token.reuse_detected' || MISUSES.has(check)),
    });
  }
  return periods;
}
