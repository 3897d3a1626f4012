import { wellFormed } from '#administration/text.js';

/** @param clientId may be of an event, where it is any text */
export function pathOf(clientId: string, page?: string): string {
  const path = `/applications/${encodeURIComponent(wellFormed(clientId))}`;
  return page === undefined ? path : `${path}/${page}`;
}
