import { type ListPage, parseCursor, type PageRequest } from '#platform/postgres/list-page.js';
import { Rule, Text, WholeNumber } from './validate.js';
import { quoted } from './wording.js';

const MAX_LIMIT = 1000;

const STATES = ['enabled', 'disabled'] as const;

/** Accepts one of these words. */
export function OneOf(words: readonly string[]): PropertyDecorator {
  return (target, field) => {
    const name = String(field);
    Text()(target, field);
    Rule('word_unknown', (dto: Readonly<Record<string, string | undefined>>) =>
      dto[name] === undefined || words.includes(dto[name])
        ? []
        : [`‹${name}› ${quoted(dto[name])} is unknown: it must be ${words.join(' or ')}`],
    )(target, field);
  };
}

/** `next` or `previous` of a page of the same list. @param isId checks the id of a record */
export function Cursor(isId: (id: string) => boolean): PropertyDecorator {
  return (target, field) => {
    Text()(target, field);
    Rule('cursor_invalid', ({ cursor }: { readonly cursor?: string }) =>
      cursor === undefined || isId(parseCursor(cursor)?.id ?? '')
        ? []
        : ['‹cursor› is not a cursor of this list'],
    )(target, field);
  };
}

/** Number of records of a page. */
export const Limit = (): PropertyDecorator => WholeNumber(1, MAX_LIMIT);

export class FilterDto {
  @Text()
  search?: string;

  @OneOf(STATES)
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
