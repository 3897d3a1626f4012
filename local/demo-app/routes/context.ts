import type { CalendarClient } from '../calendar/calendar-client.js';
import type { Sessions } from '../session/sessions.js';

/** The dependencies of the routes. */
export interface Context {
  client: CalendarClient;
  sessions: Sessions;
}
