import type { User } from '#database/user/user.js';
import type { Session } from './session.js';

type Owner = Pick<User, 'id' | 'sessionGeneration' | 'disabled'>;

/**
 * Whether a session is still valid. "Log out everywhere" invalidates every earlier generation, and disabling a user
 * invalidates all sessions.
 */
export function isCurrent(session: Session, user: Owner): boolean {
  return session.userId === user.id && session.generation === user.sessionGeneration && !user.disabled;
}
