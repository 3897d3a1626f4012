import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../event.js';
import { type AuditFilter, typesNamed } from '../filter.js';
import { byTime } from '../read-events.js';
import type { Progress } from '../reader.js';
import { ClientStore } from '#clients/client.store.js';
import { cursorText, type ListPage, parseCursor } from '#platform/postgres/list-page.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { clientIdInTrail } from '#clients/operations/client-lookup.js';
import { type Input, validated } from '#operations/operation-input.js';
import { AuditIndex } from './index/audit-index.js';
import { NEWEST, type Position, type Start } from './index/page-of-events.js';
import { findUser } from '#users/operations/user.dto.js';
import { AuditTrail } from '#operations/audit-trail.js';
import { AuditFilterDto, AuditPageDto, AuditSearchDto, parseTime } from './audit.dto.js';

export interface NewestEvents {
  readonly events: readonly AuditEvent[];
  readonly more: boolean;
  readonly warnings: readonly string[];
}

export interface EventPage extends ListPage<AuditEvent> {
  /**
   * Time (ISO 8601) at which the search stopped, if the page is not full and the following page continues the search.
   */
  readonly searchedTo: string | null;
  /** True if the following page is `next`, false if it is `previous`. */
  readonly isForward: boolean;
  readonly warnings: readonly string[];
}

export interface SelectedEvents {
  readonly warnings: readonly string[];
  /**
   * Calls back with each new event until the signal is aborted. If the filter has `since`, calls back first with the
   * stored events from this time on.
   */
  follow(signal: AbortSignal, callback: (event: AuditEvent) => void): Promise<void>;
  /** Calls back with every stored event, oldest first, and waits for each call. */
  read(callback: (event: AuditEvent) => void | Promise<void>, progress?: Progress): Promise<void>;
}

export const INDEX_BEHIND =
  'the index of the audit trail does not have all events yet: some are missing here, and none in an export';

/** Reads the audit trail. Without PostgreSQL, `page` fails, and users and clients must be given by id. */
@Injectable()
export class AuditService {
  constructor(
    private readonly trail: AuditTrail,
    private readonly clients: ClientStore,
    private readonly accounts: UserAccountStore,
    private readonly index: AuditIndex,
  ) {}

  /** @param input see `AuditSearchDto` */
  async search(input: Input<AuditSearchDto> = {}): Promise<NewestEvents> {
    const { limit, ...options } = validated(AuditSearchDto, input);
    const { filter, warnings } = await this.filterOf(options);
    return this.trail.read(async (reader) => {
      let events: AuditEvent[] = [];
      let more = false;
      for await (const event of reader.read(filter)) {
        events.push(event);
        if (events.length < 2 * limit) continue;
        events = newest(events, limit);
        more = true;
      }
      const { length } = events;
      return { events: newest(events, limit), more: more || length > limit, warnings };
    });
  }

  /** Returns matching events, newest first, in a time bounded by the index. @param input see `AuditPageDto` */
  async page(input: Input<AuditPageDto> = {}): Promise<EventPage> {
    const { limit, cursor, ...options } = validated(AuditPageDto, input);
    const { filter, warnings } = await this.filterOf(options);
    const start = cursor === undefined ? NEWEST : startAt(cursor);
    const { events, end, isBehind } = await this.trail.read((reader) =>
      this.index.find(reader, filter, limit, start),
    );
    const { isForward } = start;
    const beforeStart = cursor === undefined ? null : cursorAt(start, !isForward);
    const afterEnd = end && cursorAt(end, isForward);
    return {
      items: events,
      next: isForward ? afterEnd : beforeStart,
      previous: isForward ? beforeStart : afterEnd,
      searchedTo: end && events.length < limit ? new Date(end.storedAt).toISOString() : null,
      isForward,
      warnings: [...warnings, ...(isBehind ? [INDEX_BEHIND] : [])],
    };
  }

  /** @param input see `AuditFilterDto` */
  async select(input: Input<AuditFilterDto>): Promise<SelectedEvents> {
    const { filter, warnings } = await this.filterOf(validated(AuditFilterDto, input));
    return {
      warnings,
      follow: (signal, callback) => this.trail.read((reader) => reader.follow(filter, signal, callback)),
      read: (callback, progress) =>
        this.trail.read(async (reader) => {
          for await (const event of reader.read(filter, progress)) await callback(event);
        }),
    };
  }

  private async filterOf({
    types,
    client,
    user,
    grant,
    reference,
    check,
    operator,
    since,
    until,
  }: AuditFilterDto): Promise<{ readonly filter: AuditFilter; readonly warnings: readonly string[] }> {
    const owner = client === undefined ? null : await clientIdInTrail(this.clients, client);
    const filter = {
      ...(types.length > 0 && { types: types.flatMap(typesNamed) }),
      clientId: owner?.clientId,
      userId: user === undefined ? undefined : await this.userIdOf(user),
      grantId: grant,
      reference,
      check,
      operator,
      since: since === undefined ? undefined : (parseTime(since) ?? undefined),
      until: until === undefined ? undefined : (parseTime(until) ?? undefined),
    };
    return { filter, warnings: owner?.warnings ?? [] };
  }

  /** Accepts any id, because the audit trail outlives users. */
  private async userIdOf(login: string): Promise<number> {
    const [, id] = /^id:(\d+)$/.exec(login) ?? [];
    if (id !== undefined) return Number(id);
    return (await findUser(this.accounts, login, true)).id;
  }
}

/** @param cursor checked by `Cursor` */
function startAt(cursor: string): Start {
  const { isForward = true, micros = '0', id = '0' } = parseCursor(cursor) ?? {};
  return { isForward, storedAt: Math.floor(Number(micros) / 1000), skip: Number(id) };
}

/** Returns the cursor of the older events (`isForward`), or of the newer events. */
function cursorAt({ storedAt, skip }: Position, isForward: boolean): string {
  return cursorText({ isForward, micros: String(storedAt * 1000), id: String(skip) });
}

/** Sorts by time, because processes store events with different delays. */
function newest(events: readonly AuditEvent[], count: number): AuditEvent[] {
  return events.toSorted(byTime).slice(-count);
}
