import type { CalendarClient } from '../calendar/calendar-client.js';
import { Failure } from '../failure.js';
import type { Connection, Person, Session } from '../session/session.js';

/**
 * The owner of the connected calendar. Refreshes an expired access token.
 *
 * @throws Failure; when the permission has ended, the session is no longer connected
 */
export async function owner(client: CalendarClient, session: Session): Promise<Person | null> {
  if (!session.connection) return null;
  const person = (await client.me(session.connection)) ?? (await client.me(await refresh(client, session)));
  if (person) return person;
  throw new Failure(502, {
    title: 'Scheduling rejected our request',
    text: 'Scheduling did not accept a new token. Please try again in a moment.',
  });
}

/**
 * Refreshes the session's tokens. Concurrent requests share one refresh.
 *
 * @throws Failure; when the permission has ended, the session is no longer connected
 */
export async function refresh(client: CalendarClient, session: Session): Promise<Connection> {
  session.refreshing ??= exchange(client, session).finally(() => delete session.refreshing);
  return session.refreshing;
}

async function exchange(client: CalendarClient, session: Session): Promise<Connection> {
  const used = session.connection;
  if (!used) throw new Error('nothing is connected');
  try {
    const next = await client.refresh(used);
    // Disconnected during the refresh: the new tokens are not kept.
    if (session.connection === used) session.connection = next;
    return next;
  } catch (error) {
    if (error instanceof Failure && error.log['error'] === 'invalid_grant') delete session.connection;
    throw error;
  }
}
