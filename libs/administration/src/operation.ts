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

export interface ResultPage<Item, Cursor = string> {
  readonly items: readonly Item[];
  readonly next: Cursor | null;
}

/** @param rows up to `limit` + 1 rows; the additional row means that there is another page */
export function pageOf<Item, Cursor>(
  rows: readonly Item[],
  limit: number,
  cursorOf: (last: Item) => Cursor,
): ResultPage<Item, Cursor> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last ? cursorOf(last) : null };
}
