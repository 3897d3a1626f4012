import type { EntityManager } from 'typeorm';
import { refused } from '#platform/validation/administration.error.js';
import { problem } from '#platform/validation/problem.js';
import type { LastAdminChange } from './console-role.js';

const ENABLED_ADMIN = `console_role = 'admin' AND disabled_at IS NULL`;

/**
 * Locks all enabled admins in the order of their ids, so that one stays if two admins remove each other. Must run
 * before the transaction locks another user, because locks in another order could deadlock.
 * @throws AdministrationError `confirmLastAdmin` if the user is the only enabled admin
 */
export async function keepAnAdmin(
  manager: EntityManager,
  userId: number,
  change: LastAdminChange,
  login?: string,
): Promise<void> {
  const [first, ...others] = await manager.query<{ id: number; username: string }[]>(
    `SELECT id, username FROM users WHERE ${ENABLED_ADMIN} ORDER BY id FOR NO KEY UPDATE`,
  );
  if (first?.id === userId && others.length === 0)
    throw refused('unconfirmed', problem('confirmLastAdmin', [], { change, login: login ?? first.username }));
}

export async function isLastAdmin(manager: EntityManager, userId: number): Promise<boolean> {
  const [first, ...others] = await manager.query<{ id: number }[]>(
    `SELECT id FROM users WHERE ${ENABLED_ADMIN} LIMIT 2`,
  );
  return first?.id === userId && others.length === 0;
}

/** SQL condition. Ignores the case of ASCII letters only, because other letters may belong to another mailbox. */
export function isSameEmail(a: string, b: string): string {
  return `lower(${a} COLLATE "C") = lower(${b} COLLATE "C")`;
}

/** Deletes the invitations of a user's address. */
export async function deleteInvitationsOf(manager: EntityManager, userId: number): Promise<void> {
  await manager.query(
    `DELETE FROM console_invitations i USING users u WHERE u.id = $1 AND ${isSameEmail('i.email', 'u.email')}`,
    [userId],
  );
}
