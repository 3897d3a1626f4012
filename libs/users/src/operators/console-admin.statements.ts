import type { EntityManager } from 'typeorm';
import { LastAdminError } from './console-role.js';

const ENABLED_ADMIN = `console_role = 'admin' AND disabled_at IS NULL`;

/**
 * Locks all enabled admins in the order of their ids, so that one stays if two admins remove each other. Must run
 * before the transaction locks another user, because locks in another order could deadlock.
 * @throws LastAdminError if the user is the only enabled admin
 */
export async function keepAnAdmin(manager: EntityManager, userId: number): Promise<void> {
  const admins = await manager.query<{ id: number }[]>(
    `SELECT id FROM users WHERE ${ENABLED_ADMIN} ORDER BY id FOR NO KEY UPDATE`,
  );
  if (admins.length === 1 && admins[0]?.id === userId) throw new LastAdminError();
}

export async function isLastAdmin(manager: EntityManager, userId: number): Promise<boolean> {
  const [first, ...others] = await manager.query<{ id: number }[]>(
    `SELECT id FROM users WHERE ${ENABLED_ADMIN} LIMIT 2`,
  );
  return first?.id === userId && others.length === 0;
}
