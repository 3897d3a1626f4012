import { Injectable } from '@nestjs/common';
import { IsString } from 'class-validator';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { refused } from '#platform/validation/administration.error.js';
import { Cursor, Limit, mapPage, pageRequest } from '#operations/list.js';
import { type Input, validated } from '#operations/operation-input.js';
import type { ListPage } from '#platform/postgres/list-page.js';
import { problem } from '#platform/validation/problem.js';
import { MayBeAbsent } from '#platform/validation/validate.js';
import { AuditIndexStore } from '../../index/audit-index.store.js';
import { REFUSED_DAYS, type RefusedRequest, RefusedRequestStore } from '../../index/refused-request.store.js';
import { IsTime, parseTime } from '../audit.dto.js';
import { type HistoryPeriod, periodsOf } from '../explain/client-history.service.js';
import { type Explanation, explanationOf } from '../explain/explanation.js';
import { referenceIn, type RefusalGroup, summaryOfCounts } from '../explain/refusal-summary.js';
import { startOf, type Unit } from '../index/page-of-events.js';

const HOUR_MS = 3_600_000;

/** Hours of each history. */
const HOURS: Readonly<Record<Unit, number>> = { hour: 23, day: (REFUSED_DAYS - 1) * 24 };

const ID = /^\d{1,18}$/;

declare module '#platform/validation/problem.js' {
  interface Problems {
    refused_request_unknown: { readonly id: string };
  }
}

export class RefusedListDto {
  /** Failed check, or the error of a request without a check. */
  @IsString()
  @MayBeAbsent()
  cause?: string;

  /** Text with an `error_reference`. */
  @IsString()
  @MayBeAbsent()
  reference?: string;

  /** Inclusive lower bound. */
  @IsTime()
  since?: string;

  /** Exclusive upper bound. */
  @IsTime()
  until?: string;

  @Cursor((id) => ID.test(id))
  cursor?: string;

  @Limit()
  limit = 25;
}

export interface RefusedHistory {
  readonly unit: Unit;
  readonly periods: readonly HistoryPeriod[];
  readonly groups: readonly RefusalGroup[];
}

export interface ExplainedRefusal {
  readonly id: string;
  readonly request: RefusedRequest;
  readonly explanation: Explanation;
}

/**
 * Requests of an application for its owners, from the index of the audit trail. The database shows only the
 * applications of the user of the transaction.
 */
@Injectable()
export class RefusedRequestService {
  constructor(
    private readonly index: AuditIndexStore,
    private readonly requests: RefusedRequestStore,
  ) {}

  /** Counts the requests of the last day by hour, or of the last 30 days by day. */
  async history(clientId: string, unit: Unit, now = Date.now()): Promise<RefusedHistory> {
    const since = startOf(unit, now - HOURS[unit] * HOUR_MS);
    const counts = await this.index.counts(clientId, new Date(since), unit);
    return { unit, periods: periodsOf(counts, unit, since, now), groups: summaryOfCounts(counts).groups };
  }

  /** Newest first. */
  async list(
    client: OwnedClient,
    input: Input<RefusedListDto>,
    now = Date.now(),
  ): Promise<ListPage<ExplainedRefusal>> {
    const { cause, reference, since = '', until = '', cursor, limit } = validated(RefusedListDto, input);
    const oldest = now - REFUSED_DAYS * 24 * HOUR_MS;
    const filter = {
      cause,
      reference: reference === undefined ? undefined : referenceIn(reference),
      since: new Date(Math.max(oldest, parseTime(since)?.getTime() ?? oldest)),
      until: parseTime(until) ?? undefined,
    };
    const page = await this.requests.list(client.clientId, filter, pageRequest(limit, cursor));
    return mapPage(page, (request) => explained(client, request));
  }

  async find(client: OwnedClient, id: string): Promise<ExplainedRefusal> {
    const request = ID.test(id) ? await this.requests.find(client.clientId, id) : null;
    if (!request) throw refused('unknown', problem('refused_request_unknown', [], { id }));
    return explained(client, request);
  }
}

function explained(client: OwnedClient, request: RefusedRequest): ExplainedRefusal {
  const { id, createdAt, cause, error, description, detail, reference } = request;
  const event = {
    version: 1,
    id,
    time: createdAt.toISOString(),
    type: 'request.refused',
    service: 'token',
    client_id: client.clientId,
    check: cause,
    error,
    description,
    detail,
  } as const;
  const explanation = explanationOf(reference ?? '', [event], null, { client, scopes: null });
  return { id, request, explanation };
}
