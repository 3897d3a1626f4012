import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ports } from './settings.js';
import { StartError } from './start.error.js';

/**
 * @param timeout milliseconds in which the processes of a killed `npm start` may release their ports
 * @throws StartError that names every port in use and its variable
 */
export async function checkPorts(ports: Ports, timeout: number): Promise<void> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const taken: string[] = [];
    for (const [name, port] of Object.entries(ports)) {
      if (await isTaken(port))
        taken.push(`port ${port} is taken: set ${name} to another one, or end what listens on it`);
    }
    if (taken.length === 0) return;
    if (Date.now() >= deadline) throw new StartError(taken.join('\n'));
    await sleep(100);
  }
}

async function isTaken(port: number): Promise<boolean> {
  // Many clients try ::1 first for "localhost": a server there would receive the requests.
  return (await cannotListen('127.0.0.1', port)) || (await cannotListen('::1', port));
}

function cannotListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // On a machine without IPv6, ::1 is free (EADDRNOTAVAIL). A forbidden port (EACCES) counts as taken.
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'EADDRINUSE' || code === 'EACCES'),
    );
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(false)));
  });
}
