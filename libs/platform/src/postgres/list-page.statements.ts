import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { cursorText, type ListPage, MAX_COUNT, type PageRequest } from './list-page.js';

/**
 * Selects the ids of a page of an entity with `createdAt`. Times of creation may be equal, so the id decides.
 * @param query without joins, which would repeat rows
 */
export async function selectPage<Entity extends ObjectLiteral>(
  query: SelectQueryBuilder<Entity>,
  idColumn: keyof Entity & string,
  { cursor, limit }: PageRequest,
): Promise<ListPage<string>> {
  const { isForward = true } = cursor ?? {};
  const [time, id] = [`${query.alias}.createdAt`, `${query.alias}.${idColumn}`];
  const order = isForward ? 'DESC' : 'ASC';
  query
    .select(id, 'id')
    .addSelect(`(extract(epoch FROM ${time}) * 1000000)::bigint::text`, 'micros')
    .orderBy(time, order)
    .addOrderBy(id, order)
    .limit(limit + 1);
  if (cursor)
    query.andWhere(
      `(${time}, ${id}) ${isForward ? '<' : '>'} ('epoch'::timestamptz + :micros * interval '1 microsecond', :cursorId)`,
      { micros: cursor.micros, cursorId: cursor.id },
    );
  const rows = await query.getRawMany<{ readonly id: string | number; readonly micros: string }>();
  const hasMore = rows.length > limit;
  const shown = rows.slice(0, limit);
  if (!isForward) shown.reverse();
  const cursorAt = (row: (typeof shown)[number], toOlder: boolean) =>
    cursorText({ isForward: toOlder, micros: row.micros, id: String(row.id) });
  const [first, last] = [shown[0], shown.at(-1)];
  return {
    items: shown.map((row) => String(row.id)),
    next: last && (hasMore || !isForward) ? cursorAt(last, true) : null,
    previous: first && (isForward ? cursor !== undefined : hasMore) ? cursorAt(first, false) : null,
  };
}

/** Counts at most `MAX_COUNT` + 1 records, in bounded time. */
export async function countOf<Entity extends ObjectLiteral>(
  query: SelectQueryBuilder<Entity>,
): Promise<number> {
  const [sql, values] = query
    .select('1')
    .limit(MAX_COUNT + 1)
    .getQueryAndParameters();
  const [row] = await query.connection.query<{ count: number }[]>(
    `SELECT count(*)::integer AS count FROM (${sql}) matching`,
    values,
  );
  return row?.count ?? 0;
}

/** Returns the ids of at most `MAX_COUNT` + 1 records, newest first. */
export async function idsOf<Entity extends ObjectLiteral>(
  query: SelectQueryBuilder<Entity>,
  idColumn: keyof Entity & string,
): Promise<string[]> {
  return [...(await selectPage(query, idColumn, { limit: MAX_COUNT + 1 })).items];
}

/** Orders records as `ids`. */
export function inOrder<Item>(
  ids: readonly string[],
  items: readonly Item[],
  idOf: (item: Item) => string | number,
): Item[] {
  const byId = new Map(items.map((item) => [String(idOf(item)), item]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Number of characters from which on a trigram index finds any part of a text. */
const MIN_PART = 3;

/**
 * Restricts a query to records whose text contains the search, in any letter case. Uses the trigram index of the same
 * expression. One or two characters match only the beginning of a field or after a space, because the index has no
 * shorter parts, and reading all rows would exceed the statement timeout.
 * @param text SQL expression of the index, with a line per field
 */
export function containing<Entity extends ObjectLiteral>(
  query: SelectQueryBuilder<Entity>,
  text: string,
  search: string,
): void {
  if (Array.from(search).length < MIN_PART) {
    // One condition, because PostgreSQL computes the text of each row again for each.
    const pattern = `(^|\n| )${search.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`)}`;
    query.andWhere(`${text} ~ lower(:pattern)`, { pattern });
  } else {
    const pattern = `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
    query.andWhere(`${text} LIKE lower(:pattern)`, { pattern });
  }
}
