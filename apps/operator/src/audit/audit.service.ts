import type { AuditEvent } from '#audit/event.js';
import { type AuditFilter, typesNamed } from '#audit/filter.js';
import { clientIdInTrail } from '../client/client-argument.js';
import { parseTime } from '../command-line/moment.js';
import { withAuditTrail } from '../connections/audit-trail.connection.js';
import { withStores } from '../connections/database.connection.js';
import type { ChangeSettings } from '../settings/settings.js';
import { findUser } from '#administration/user/user-lookup.js';
import type { AuditFilterDto, AuditSearchDto } from './audit.dto.js';

/** @throws InputError if the login matches no user, or several; or if several clients have the name */
export async function filterOf(settings: ChangeSettings, options: AuditFilterDto): Promise<AuditFilter> {
  const { type, client, user, grant, reference, since, until } = options;
  return {
    ...(type.length > 0 && { types: type.flatMap(typesNamed) }),
    clientId: client === undefined ? undefined : await clientIdInTrail(settings, client),
    userId: user === undefined ? undefined : await userIdOf(settings, user),
    grantId: grant,
    reference,
    since: since === undefined ? undefined : (parseTime(since) ?? undefined),
    until: until === undefined ? undefined : (parseTime(until) ?? undefined),
  };
}

/** Returns the newest matching events, oldest first. `more`: there are older ones. */
export async function searchEvents(
  settings: ChangeSettings,
  options: AuditSearchDto,
): Promise<{ events: AuditEvent[]; more: boolean }> {
  const filter = await filterOf(settings, options);
  return withAuditTrail(settings, async (reader) => {
    let events: AuditEvent[] = [];
    let more = false;
    for await (const event of reader.read(filter)) {
      events.push(event);
      if (events.length < 2 * options.limit) continue;
      events = newest(events, options.limit);
      more = true;
    }
    const { length } = events;
    return { events: newest(events, options.limit), more: more || length > options.limit };
  });
}

/** Sorts by time: processes store their events with different delays. */
function newest(events: readonly AuditEvent[], count: number): AuditEvent[] {
  return events.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)).slice(-count);
}

/** Accepts any id, because the audit trail outlives users. */
async function userIdOf(settings: ChangeSettings, login: string): Promise<number> {
  const [, id] = /^id:(\d+)$/.exec(login) ?? [];
  if (id !== undefined) return Number(id);
  const hint = '; for events of a deleted user, give the id, like --user id:42';
  return withStores(settings, async (stores) => (await findUser(stores.accounts, login, hint)).id);
}
