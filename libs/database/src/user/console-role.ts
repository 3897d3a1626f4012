/** From the least to the most: each role may do what the roles before it may. */
export const CONSOLE_ROLES = ['viewer', 'support', 'admin'] as const;

/** `viewer` reads, `support` also ends access (revokes, disables), `admin` may do everything. */
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];
