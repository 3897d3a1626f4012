import { ENDPOINTS } from '#oauth/endpoints.js';

/** The question about one application; its form is sent to the same address, so that a way back leads to it. */
export function revokeAddress(clientId: string): string {
  return `${ENDPOINTS.revokeApp}?${new URLSearchParams({ client_id: clientId }).toString()}`;
}

/** @param page from 1 */
export function appsAddress(page: number): string {
  return `${ENDPOINTS.connectedApps}?page=${page}`;
}
