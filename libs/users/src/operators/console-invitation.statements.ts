import type { EntityManager } from 'typeorm';

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
