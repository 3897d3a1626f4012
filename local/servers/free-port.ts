import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

// The range is above 10080, the last port that browsers and fetch block, and below the ephemeral ports (from 32768 on
// Linux, 49152 elsewhere), which a busy machine may assign to outgoing connections between the check and the use.
const FIRST = 11_000;
const LAST = 31_999;
const given = new Set<number>();

/**
 * Returns a free port and reserves it for this process.
 * @param distance to a second port, which is also free and reserved
 */
export async function freePort(distance = 0): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST - distance + 1);
    const ports = [...new Set([port, port + distance])];
    if (ports.some((candidate) => given.has(candidate))) continue;
    for (const candidate of ports) given.add(candidate);
    if ((await Promise.all(ports.map(isOurs))).every(Boolean)) return port;
  }
}

async function isOurs(port: number): Promise<boolean> {
  return (await isFree(port)) && (await isReserved(port));
}

/** Binds the UDP port of the same number as a lock, so that no other process reserves the port before its use. */
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
