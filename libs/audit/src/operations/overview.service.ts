import { Injectable } from '@nestjs/common';
import { AuditIndexStore } from '../index/audit-index.store.js';
import { ClientStore } from '#clients/client.store.js';
import { type UsageDay, UsageStore } from '#grants/usage/usage.store.js';
import { AuditIndex } from './index/audit-index.js';
import { startOf } from './index/page-of-events.js';
import { AuditTrail } from '#operations/audit-trail.js';
import { INDEX_BEHIND } from './audit.service.js';
import { type RefusalSummary, summaryOfCounts } from './explain/refusal-summary.js';

interface RefusedApplication {
  readonly clientId: string;
  readonly name: string | null;
  readonly count: number;
}

export interface RefusalOverview extends RefusalSummary {
  /** Full hour at which the period begins (ISO 8601). */
  readonly since: string;
  /** Applications with the most refusals, the most first. */
  readonly applications: readonly RefusedApplication[];
  readonly warnings: readonly string[];
}

const SHOWN_APPLICATIONS = 10;
/** More than are shown, because events that are not indexed yet may change the order. */
const RANKED_APPLICATIONS = 50;
const HOURS = 24;
const DAYS = 30;
const MAX_AGE_MS = 60 * 60_000;

/** Summarizes all applications in bounded time. */
@Injectable()
export class OverviewService {
  constructor(
    private readonly index: AuditIndexStore,
    private readonly trailIndex: AuditIndex,
    private readonly trail: AuditTrail,
    private readonly clients: ClientStore,
    private readonly days: UsageStore,
  ) {}

  /** Counts the refusals of registered applications in the last day, including those that are not indexed yet. */
  async refusals(now = Date.now()): Promise<RefusalOverview> {
    const since = new Date(startOf('hour', now - (HOURS - 1) * 3_600_000));
    const [causes, most, tail] = await Promise.all([
      this.index.refusals(since),
      this.index.mostRefused(since, RANKED_APPLICATIONS),
      this.trail.read((reader) => this.trailIndex.recentRefusals(reader)),
    ]);
    const totals = new Map(most.map(({ clientId, count }) => [clientId, count]));
    const recent = tail.counts.filter(({ start }) => start >= since);
    const ids = new Set([...totals.keys(), ...recent.flatMap(({ clientId }) => clientId ?? [])]);
    const names = await this.clients.names([...ids]);
    const registered = recent.filter(({ clientId }) => clientId === null || names.has(clientId));
    for (const { clientId, count } of registered)
      if (clientId !== null) totals.set(clientId, (totals.get(clientId) ?? 0) + count);
    return {
      ...summaryOfCounts([...causes, ...registered]),
      since: since.toISOString(),
      applications: [...totals]
        .sort(([, a], [, b]) => b - a)
        .slice(0, SHOWN_APPLICATIONS)
        .map(([clientId, count]) => ({ clientId, name: names.get(clientId) ?? null, count })),
      warnings: tail.isBehind ? [INDEX_BEHIND] : [],
    };
  }

  /** Returns the usage of the last 30 days, oldest first. A day without a running console is missing. */
  usage(): Promise<UsageDay[]> {
    return this.days.list(DAYS);
  }

  /** Counts the usage of today, at most once an hour for all processes. */
  countUsage(): Promise<void> {
    return this.days.count(MAX_AGE_MS);
  }
}
