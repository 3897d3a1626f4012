import type { ConnectedApp } from '#database/grant/connected-app.js';

/** So many that a page stays under 30 KB in every language. */
const A_PAGE = 15;

/** A part of what a user allowed. */
export interface AppsPage {
  readonly apps: readonly ConnectedApp[];
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

/** @param asked as it stands in the address; what is no page of the list means the nearest one */
export function appsPage(all: readonly ConnectedApp[], asked: string | null): AppsPage {
  const pages = Math.max(1, Math.ceil(all.length / A_PAGE));
  const page = Math.min(pages, Math.max(1, Math.floor(Number(asked)) || 1));
  return { apps: all.slice((page - 1) * A_PAGE, page * A_PAGE), page, pages };
}
