/** Path of an application, or of one of its pages. */
export function pathOf(clientId: string, page?: string): string {
  const path = `/applications/${encodeURIComponent(clientId)}`;
  return page === undefined ? path : `${path}/${page}`;
}
