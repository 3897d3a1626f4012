import type { User } from '#directory/user.js';
import type { Session } from './session.js';

type Owner = Pick<User, 'id' | 'sessionGeneration' | 'disabled'>;

/**
 * Whether a session is still good for its user: who logged out everywhere ended those of every earlier generation, and a
 * disabled user has none.
 */
export function isCurrent(session: Session, user: Owner): boolean {
  return session.userId === user.id && session.generation === user.sessionGeneration && !user.disabled;
}
