import type { ConsoleRole } from '#users/operators/console-role.js';

export interface Actor {
  /** Name in the audit trail, like `ada@laptop`. */
  readonly name: string;
  readonly channel: 'command' | 'api' | 'page';
  /** Null during a login, and for an API client whose token does not have the scope `admin:operators`. */
  readonly role: ConsoleRole | null;
}

export interface Change<Result> {
  readonly result: Result;
  /**
   * Resolves with warnings, and never rejects. Show a new secret before waiting, because the secret is not stored. Wait
   * before the process exits.
   */
  readonly announced: Promise<readonly string[]>;
}
