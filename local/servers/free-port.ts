import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

// Below the ports that kernels give to outgoing connections (Linux 32768, others 49152), of which a busy machine takes
// one between our look and its use; above 10080, the last of those that browsers and fetch refuse.
const FIRST = 11_000;
const LAST = 31_999;
const given = new Set<number>();

/**
 * A port of 127.0.0.1 that nothing listens on, and that neither this process nor, while that lives, another one was given.
 *
 * @param distance to a second port above it of which the same has to be true
 */
export async function freePort(distance = 0): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST - distance + 1);
    const ports = [...new Set([port, port + distance])];
    if (ports.some((one) => given.has(one))) continue;
    for (const one of ports) given.add(one);
    if ((await Promise.all(ports.map(isOurs))).every(Boolean)) return port;
  }
}

async function isOurs(port: number): Promise<boolean> {
  return (await isFree(port)) && (await isReserved(port));
}

/**
 * Between our look and its use, which may be seconds later and in a process that we start, another of our processes may
 * choose the same port. The UDP port of that number, which nobody needs, tells them: the system lets one process have it.
 */
function isReserved(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const mark = createSocket('udp4').unref();
    mark.once('error', ({ code }: NodeJS.ErrnoException) => {
      mark.close();
      resolve(code !== 'EADDRINUSE');
    });
    mark.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
