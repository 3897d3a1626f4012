import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverUrls } from '#platform/configuration/variables.js';
import { type Ports, StartError } from './settings.js';

const DEFAULT_PORTS = { DATABASE_URL: 5432, REDIS_URL: 6379, NATS_URL: 4222 };
const RETRY_MS = 250;

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Waits for the servers that the environment names.
 * @throws StartError with variable and address of every unreachable server
 */
export async function checkExternalServices(env: NodeJS.ProcessEnv, timeout: number): Promise<void> {
  const deadline = Date.now() + timeout;
  const problems = await Promise.all(
    Object.entries(DEFAULT_PORTS).map(async ([variable, defaultPort]) => {
      const addresses = addressesOf(env[variable] ?? '', defaultPort);
      if (addresses.length === 0 || (await anyAccepts(addresses, deadline))) return [];
      const where = addresses.map(({ host, port }) => `${host}:${port}`).join(' or ');
      return [`${variable}: nothing accepts connections at ${where}`];
    }),
  );
  if (problems.flat().length === 0) return;
  const advice = 'Start the server, or unset the variable: then npm start starts a private server.';
  throw new StartError([...problems.flat(), advice].join('\n'));
}

/** Returns the addresses in a list of URLs. Omits URLs without a host, such as socket URLs. */
function addressesOf(text: string, defaultPort: number): Address[] {
  return text
    .split(/,(?=\s*\w+:\/\/)/)
    .flatMap(serverUrls)
    .map((url) => new URL(url))
    .filter(({ hostname }) => hostname !== '')
    .map(({ hostname, port }) => ({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || defaultPort,
    }));
}

async function anyAccepts(addresses: readonly Address[], deadline: number): Promise<boolean> {
  for (;;) {
    const timeLeft = Math.max(deadline - Date.now(), 1);
    const accepted = await Promise.all(addresses.map((address) => accepts(address, timeLeft)));
    if (accepted.includes(true)) return true;
    if (Date.now() + RETRY_MS >= deadline) return false;
    await sleep(RETRY_MS);
  }
}

export function accepts({ host, port }: Address, timeout: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.setTimeout(timeout, () => end(false));
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

/**
 * Waits until all ports are free.
 *
 * @param timeout milliseconds in which processes of a killed `npm start` may end
 * @throws StartError with every port in use and its variable
 */
export async function checkPorts(ports: Ports, timeout: number): Promise<void> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const problems: string[] = [];
    for (const [name, port] of Object.entries(ports)) {
      if (await isInUse(port))
        problems.push(
          `port ${port} is in use: set ${name} to another port, or stop the process that uses it`,
        );
    }
    if (problems.length === 0) return;
    if (Date.now() >= deadline) throw new StartError(problems.join('\n'));
    await sleep(100);
  }
}

async function isInUse(port: number): Promise<boolean> {
  // Many clients resolve "localhost" to ::1 first, so a server on ::1 would receive the requests.
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
