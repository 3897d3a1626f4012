/** Part of a list, newest first. A list keeps its order when records are added or deleted between two pages. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** Cursor of the page with older records; null at the end. */
  readonly next: string | null;
  /** Cursor of the page with newer records; null on the first page. */
  readonly previous: string | null;
}

export interface PageRequest {
  /** `next` or `previous` of a page of the same list; undefined for the newest records. */
  readonly cursor?: ListCursor | undefined;
  readonly limit: number;
}

/** Position between two records, which need not exist any more. */
export interface ListCursor {
  readonly isForward: boolean;
  /** Creation of the neighbour in microseconds since the epoch, the precision of PostgreSQL; storage of an event. */
  readonly micros: string;
  readonly id: string;
}

/** Largest number of records that `countOf` counts and that a selection may contain. */
export const MAX_COUNT = 10_000;

const CURSOR = /^([ab])(\d{1,17})\.(.+)$/;

/** Does not check the id. @returns null if the text is not a cursor */
export function parseCursor(text: string): ListCursor | null {
  const [, direction, micros = '', id = ''] = CURSOR.exec(text) ?? [];
  return direction === undefined ? null : { isForward: direction === 'a', micros, id };
}

export function cursorText({ isForward, micros, id }: ListCursor): string {
  return `${isForward ? 'a' : 'b'}${micros}.${id}`;
}
