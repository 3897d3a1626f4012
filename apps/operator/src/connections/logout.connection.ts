import { warn } from '../command-line/output.js';
import type { TrailSettings } from '../settings/settings.js';
import { trailServer } from './audit-trail.connection.js';
import { withNats } from './nats.connection.js';

/** Notifies applications of the end of all sessions of a user. Only warns on failure, because the sessions have ended. */
export async function publishUserEnded(settings: TrailSettings, userId: number): Promise<void> {
  const { url, variable } = trailServer(settings);
  try {
    const { LOGOUT_SUBJECTS, sessionsEnded, storeLogout } = await import('#messaging/logout/logout-queue.js');
    await withNats(url, (nats) =>
      storeLogout(nats, LOGOUT_SUBJECTS.ended('operator'), sessionsEnded({ user_id: userId })),
    );
  } catch {
    warn(`NATS (${variable}) did not store the log-out: applications get no logout token`);
  }
}
