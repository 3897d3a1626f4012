export interface Actor {
  /** For the audit trail, like `ada@laptop`. */
  readonly name: string;
  readonly door: 'command' | 'api' | 'page';
}

export interface Change<Result> {
  readonly result: Result;
  /**
   * Resolves with warnings once running services and the audit trail have the change; never rejects. Show a new secret before, because
   * it is stored nowhere else. The process must not exit before.
   */
  readonly announced: Promise<readonly string[]>;
}

export interface Page<Item, Cursor = string> {
  readonly items: readonly Item[];
  /** Cursor of the next page; null on the last one. */
  readonly next: Cursor | null;
}

/** @param found up to one more item than `limit`, which shows that there is another page */
export function pageOf<Item, Cursor>(
  found: readonly Item[],
  limit: number,
  cursorOf: (last: Item) => Cursor,
): Page<Item, Cursor> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, next: found.length > limit && last ? cursorOf(last) : null };
}
