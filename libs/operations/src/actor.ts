export interface Actor {
  /** Name in the audit trail, like `ada@laptop`. */
  readonly name: string;
  readonly channel: 'command' | 'api' | 'page';
}

export interface Change<Result> {
  readonly result: Result;
  /**
   * Resolves with warnings, and never rejects. Show a new secret before waiting, because the secret is not stored. Wait
   * before the process exits.
   */
  readonly announced: Promise<readonly string[]>;
}
