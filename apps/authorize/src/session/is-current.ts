import type { User } from '#directory/user.js';
import type { Session } from './session.js';

/** Whether a session is still good for its user: who logged out everywhere ended those of every earlier generation. */
export function isCurrent(session: Session, user: Pick<User, 'id' | 'sessionGeneration'>): boolean {
  return session.userId === user.id && session.generation === user.sessionGeneration;
}
