import { wellFormed } from '#operations/wording.js';

/** @param clientId any text, because it may come from an event */
export function pathOf(clientId: string, page?: string): string {
  const path = `/applications/${encodeURIComponent(wellFormed(clientId))}`;
  return page === undefined ? path : `${path}/${page}`;
}
