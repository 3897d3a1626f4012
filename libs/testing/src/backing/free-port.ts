import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the ports that kernels give to outgoing connections (Linux 32768, others 49152), of which a busy machine takes
// one between our look and its use; above 10080, the last of those that browsers and fetch refuse.
const FIRST = 11_000;
const LAST = 31_999;
const given = new Set<number>();

/**
 * A port of 127.0.0.1 that nothing listens on, and that this process was not given before.
 *
 * @param distance to a second port above it of which the same has to be true
 */
export async function freePort(distance = 0): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST - distance + 1);
    const ports = [...new Set([port, port + distance])];
    if (ports.some((one) => given.has(one))) continue;
    for (const one of ports) given.add(one);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
