import { text } from 'node:stream/consumers';
import { serve } from './http-server.js';

export interface ReceivedLogout {
  readonly path: string;
  readonly type: string | undefined;
  readonly token: string;
}

/**
 * Server for all back-channel log-out URIs (section 2.6 of OpenID Connect Back-Channel Logout 1.0).
 * @param onLogout called before the response
 */
export async function startLogoutReceiver(onLogout: (logout: ReceivedLogout) => unknown = () => undefined) {
  const received: ReceivedLogout[] = [];
  /** Statuses by path; 200 by default, 0 for no response. */
  const statuses = new Map<string, number>();
  /** Paths whose responses have a compressed body that does not end. */
  const endless = new Set<string>();
  const { url, close } = await serve((request, response) => {
    const receive = async (body: string): Promise<void> => {
      const path = request.url ?? '';
      const token = new URLSearchParams(body).get('logout_token') ?? '';
      const logout = { path, type: request.headers['content-type'], token };
      received.push(logout);
      await onLogout(logout);
      const status = statuses.get(path) ?? 200;
      if (status === 0) return;
      if (endless.has(path)) response.writeHead(status, { 'Content-Encoding': 'gzip' }).write('x');
      else response.writeHead(status, status === 302 ? { Location: '/elsewhere' } : {}).end();
    };
    // An app may end during its request.
    void text(request).then(receive, () => undefined);
  });
  return {
    url,
    statuses,
    endless,
    at: (path: string): ReceivedLogout[] => received.filter((logout) => logout.path === path),
    get received(): readonly ReceivedLogout[] {
      return received;
    },
    close,
  };
}
