import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ports } from './settings.js';
import { StartError } from './start.error.js';

/**
 * @param patience milliseconds to wait for ports that the processes of a killed `npm start` are about to give back
 * @throws StartError that names every port in use and its variable
 */
export async function checkPorts(ports: Ports, patience: number): Promise<void> {
  const deadline = Date.now() + patience;
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
  // "localhost" is tried as ::1 first by many clients: what listens there would get our requests.
  return (await cannotListen('127.0.0.1', port)) || (await cannotListen('::1', port));
}

function cannotListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // A machine without IPv6 has nobody on ::1; a forbidden port (EACCES) is as good as taken.
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'EADDRINUSE' || code === 'EACCES'),
    );
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(false)));
  });
}
