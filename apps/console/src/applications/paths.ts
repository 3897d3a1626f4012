export function pathOf(clientId: string, page?: string): string {
  const path = `/applications/${encodeURIComponent(clientId)}`;
  return page === undefined ? path : `${path}/${page}`;
}
