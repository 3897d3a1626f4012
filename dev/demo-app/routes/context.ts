import type { CalendarClient } from '../calendar/calendar-client.js';
import type { Sessions } from '../session/sessions.js';

/** What the routes work with. */
export interface Context {
  client: CalendarClient;
  sessions: Sessions;
}
