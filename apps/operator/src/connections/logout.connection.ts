import { warn } from '../command-line/output.js';
import type { ChangeSettings } from '../settings/settings.js';
import { trailServer } from './audit-trail.connection.js';
import { withStores } from './database.connection.js';
import { withNats } from './nats.connection.js';

/**
 * Notifies applications of the end of all sessions of a user. Only warns on failure, because the sessions have ended. Publishes
 * nothing if no application is to be notified: without OpenID Connect NATS has no queue.
 */
export async function publishUserEnded(settings: ChangeSettings, userId: number): Promise<void> {
  const { url, variable } = trailServer(settings);
  try {
    const applications = await withStores(settings, ({ recipients }) => recipients.ofUser(userId));
    if (applications.length === 0) return;
    const { LOGOUT_SUBJECTS, sessionsEnded, storeLogout } = await import('#messaging/logout/logout-queue.js');
    await withNats(url, (nats) =>
      storeLogout(nats, LOGOUT_SUBJECTS.ended('operator'), sessionsEnded({ user_id: userId })),
    );
  } catch {
    warn(`NATS (${variable}) did not store the log-out: applications get no logout token`);
  }
}
