export const CONNECTED_APPS = '/auth/apps';
export const REVOKE = '/auth/apps/revoke';
export const REVOKE_ALL = '/auth/apps/revoke-all';

/** The question about one application; its form is sent to the same address, so that a way back leads to it. */
export function revokeAddress(clientId: string): string {
  return `${REVOKE}?${new URLSearchParams({ client_id: clientId }).toString()}`;
}

/** @param page from 1 */
export function appsAddress(page: number): string {
  return `${CONNECTED_APPS}?page=${page}`;
}
