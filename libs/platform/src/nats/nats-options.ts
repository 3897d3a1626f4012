import type { NodeConnectionOptions } from '@nats-io/transport-node';

/**
 * Connection options for `nats://[user:password@]host:port[,nats://…]` (a lone user name is a token): keep trying for ever,
 * from the first connection on, and notice a dead peer within seconds.
 */
export function natsOptions(url: string, name: string): NodeConnectionOptions {
  const servers = url.split(',').map((server) => new URL(server.trim()));
  const [first] = servers;
  const [user, pass] = [decodeURIComponent(first?.username ?? ''), decodeURIComponent(first?.password ?? '')];
  return {
    name,
    servers: servers.map(({ host }) => host),
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    // Replies go where this user alone may listen, if the server's permissions say so (k8s/overlays/local/nats/nats.conf).
    ...(pass !== '' && /^[\w-]+$/.test(user) && { inboxPrefix: `_INBOX.${user}` }),
    ...(servers.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    // Two refused logins would end the client for good; passwords are replaced on both sides, one after the other.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    timeout: 2_000,
    pingInterval: 2_000,
    maxPingOut: 2,
  };
}
