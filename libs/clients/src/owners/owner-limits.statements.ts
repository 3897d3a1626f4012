import type { EntityManager } from 'typeorm';
import { problem } from '#platform/validation/problem.js';
import { type AdministrationError, refused } from '#platform/validation/administration.error.js';

/** Limits of one user, and of one application. */
export const OWNER_LIMITS = {
  /** Drafts and undecided requests of a user. */
  requests: 10,
  /** Applications in testing of an owner. */
  applications: 10,
  /** Testers of an application. */
  testers: 10,
  /** Open invitations of a user. */
  invitations: 20,
  /** Invitations that a user sends by mail in 24 hours, revoked ones included. */
  mails: 10,
  /** Invitations by mail to one address, whatever follows a `+`, in 24 hours, from all users, revoked ones included. */
  mails_to_address: 5,
} as const;

/** Constraints by which a trigger reports the limits of mails (`migrations/mails.ts`). */
export const MAIL_LIMITS = {
  mails: 'client_invitations_mail_limit',
  mails_to_address: 'client_invitations_address_limit',
} as const satisfies Partial<Readonly<Record<keyof typeof OWNER_LIMITS, string>>>;

declare module '#platform/validation/problem.js' {
  interface Problems {
    limit_reached: { readonly of: keyof typeof OWNER_LIMITS; readonly max: number };
  }
}

/** Serializes the steps of a user that have limits. */
export async function lockUserLimits(manager: EntityManager, userId: number): Promise<void> {
  await manager.query(`SELECT pg_advisory_xact_lock(hashtextextended('limits of ' || $1, 0))`, [
    String(userId),
  ]);
}

export function limitReached(of: keyof typeof OWNER_LIMITS): AdministrationError {
  return refused('conflict', problem('limit_reached', [], { of, max: OWNER_LIMITS[of] }));
}
