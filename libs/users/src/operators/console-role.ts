/** From least to most privileged: each role includes the roles before it. */
export const CONSOLE_ROLES = ['viewer', 'support', 'admin'] as const;

/** `viewer` reads, `support` also ends access (revokes, disables), `admin` may do everything. */
export type ConsoleRole = (typeof CONSOLE_ROLES)[number];

/** Thrown, before anything is written, by a change after which the console would have no admin. */
export class LastAdminError extends Error {
  constructor() {
    super('the user is the last admin of the console');
    this.name = 'LastAdminError';
  }
}
