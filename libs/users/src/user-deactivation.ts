import { changesBetween } from '#audit/changes.js';
import type { AuditRecord } from '#audit/event.js';
import type { Disabler } from './user-account.statements.js';
import type { Deletion, Disabling } from './user-account.store.js';

/** Transactions that disable and delete one user. Both are idempotent, and revoke every grant. */
export interface UserDeactivation {
  readonly by: Disabler;
  /** Returns null if the user does not exist. */
  disable(): Promise<Disabling | null>;
  delete(): Promise<Deletion>;
}

/** Ports of the process that disables or deletes a user. */
export interface DeactivationAnnouncer {
  /** Records an event, and never rejects. */
  record(event: AuditRecord): Promise<void>;
  /** Resolves when every service rejects the user's sessions and tokens. @throws Error if a service does not answer */
  endAccess(userId: number, step: 'disabled' | 'deleted'): Promise<void>;
}

/**
 * Changes PostgreSQL first, so that a reconciler completes the revocations of a process that dies
 * (docs/adr/0010-users-and-their-grants.md). Safe to repeat after a failure.
 * @returns null if the user does not exist
 */
export async function disableUser(
  user: UserDeactivation,
  announcer: DeactivationAnnouncer,
): Promise<Disabling | null> {
  const disabled = await user.disable();
  if (disabled === null || disabled.outcome === 'stale') return disabled;
  // Started first, because a failure must not lose the event. Awaited last, because the end of access must not wait.
  const recorded = isEvent(user, disabled) && announcer.record(disabledEvent(user.by, disabled));
  try {
    await announcer.endAccess(disabled.id, 'disabled');
  } finally {
    await recorded;
  }
  return disabled;
}

/** Like `disableUser`, and deletes the row last, so that a repetition still finds the user. */
export async function deleteUser(
  user: UserDeactivation,
  announcer: DeactivationAnnouncer,
): Promise<Deletion & Pick<Disabling, 'wasLastAdmin'>> {
  const disabled = await disableUser(user, announcer);
  if (disabled?.outcome === 'stale') return { ...disabled, outcome: 'stale' };
  const { wasLastAdmin = false } = disabled ?? {};
  const deleted = await user.delete();
  const { outcome, id, revokedGrants } = deleted;
  if (outcome === 'stale' || id === undefined) return { ...deleted, wasLastAdmin };
  // Without name and email address: the audit trail outlives personal data.
  const recorded =
    outcome === 'deleted' &&
    announcer.record({
      type: 'user.deleted',
      user_id: id,
      ...(user.by === 'product' && { detail: { by: user.by } }),
    });
  try {
    // Between the two transactions, the user may have been created, enabled with new grants, or deleted.
    if (!disabled || revokedGrants > 0) await announcer.endAccess(id, 'deleted');
  } finally {
    await recorded;
  }
  return { outcome, id, revokedGrants: (disabled?.revokedGrants ?? 0) + revokedGrants, wasLastAdmin };
}

/** An operator's command is an event even if it changes nothing. The product's messages may be delivered twice. */
function isEvent({ by }: UserDeactivation, { outcome }: Disabling): boolean {
  return by === 'operator' || outcome === 'disabled';
}

function disabledEvent(
  by: Disabler,
  { id, disabledBefore, revokedGrants, wasLastAdmin }: Disabling,
): AuditRecord {
  const disabledBy = [...new Set([...disabledBefore, by])].sort();
  return {
    type: 'user.disabled',
    user_id: id,
    detail: {
      ...(by === 'product' && { by }),
      revoked_grants: revokedGrants,
      ...(wasLastAdmin && { last_admin: true }),
    },
    ...changesBetween({ disabled_by: disabledBefore }, { disabled_by: disabledBy }),
  };
}
