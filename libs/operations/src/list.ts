import { applyDecorators } from '@nestjs/common';
import { IsIn, IsString } from 'class-validator';
import { type ListPage, parseCursor, type PageRequest } from '#platform/postgres/list-page.js';
import { problem } from '#platform/validation/problem.js';
import { MayBeAbsent, Rule, WholeNumber } from '#platform/validation/validate.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    cursor_invalid: null;
  }
}

const MAX_LIMIT = 1000;

const STATES = ['enabled', 'disabled'] as const;

/** `next` or `previous` of a page of the same list. @param isId checks the id of a record */
export function Cursor(isId: (id: string) => boolean): PropertyDecorator {
  const isCursor = (cursor: string) => isId(parseCursor(cursor)?.id ?? '');
  return applyDecorators(
    MayBeAbsent(),
    IsString(),
    Rule(({ cursor }: { readonly cursor?: string }) =>
      cursor === undefined || isCursor(cursor) ? [] : [problem('cursor_invalid', 'cursor')],
    ),
  );
}

/** Number of records of a page. */
export const Limit = (): PropertyDecorator => WholeNumber(1, MAX_LIMIT);

export class FilterDto {
  @IsString()
  @MayBeAbsent()
  search?: string;

  @IsIn(STATES)
  @IsString()
  @MayBeAbsent()
  state?: (typeof STATES)[number];
}

/** @param cursor checked by `Cursor` */
export function pageRequest(limit: number, cursor?: string): PageRequest {
  return { cursor: cursor === undefined ? undefined : (parseCursor(cursor) ?? undefined), limit };
}

export function mapPage<Item, View>(page: ListPage<Item>, view: (item: Item) => View): ListPage<View> {
  return { ...page, items: page.items.map(view) };
}

/** Removes the spaces around a search. */
export function trimmed<Filter extends { readonly search?: string }>(filter: Filter): Filter {
  return filter.search === undefined ? filter : { ...filter, search: filter.search.trim() };
}
