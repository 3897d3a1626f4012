import type { User } from '#database/user/user.js';

/**
 * What other services may know of a user, field by field: one more in the database stays ours until somebody
 * decides otherwise.
 */
export function profileOf(user: User): Record<string, unknown> {
  const { id, username, email, name, avatarUrl, bio } = user;
  const { timeFormat, defaultScheduleId, weekStart, timeZone, organizationId } = user;
  return {
    id,
    username,
    email,
    name,
    avatarUrl,
    bio,
    timeFormat,
    defaultScheduleId,
    weekStart,
    timeZone,
    organizationId,
  };
}
