import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverUrls } from '#platform/configuration/server-urls.js';
import { StartError } from './start.error.js';

const PORTS = { DATABASE_URL: 5432, REDIS_URL: 6379, NATS_URL: 4222 };
const RETRY_MS = 250;

interface Place {
  readonly host: string;
  readonly port: number;
}

/**
 * Waits until something accepts connections where the environment says that servers are.
 *
 * @param within milliseconds: they may have been started a moment ago
 * @throws StartError that names every variable whose server cannot be reached, and where it was looked for
 */
export async function checkGivenServices(env: NodeJS.ProcessEnv, within: number): Promise<void> {
  const deadline = Date.now() + within;
  const problems = await Promise.all(
    Object.entries(PORTS).map(async ([variable, standard]) => {
      const places = placesOf(env[variable] ?? '', standard);
      if (places.length === 0 || (await anyAccepts(places, deadline))) return [];
      const where = places.map(({ host, port }) => `${host}:${port}`).join(' or ');
      return [`${variable}: nothing accepts connections at ${where}`];
    }),
  );
  if (problems.flat().length === 0) return;
  const advice = 'Start it there, or unset the variable: then npm start brings its own.';
  throw new StartError([...problems.flat(), advice].join('\n'));
}

/** Of a cluster one is enough. What is no URL of a host, such as a socket's, is left to who connects to it. */
function placesOf(text: string, standard: number): Place[] {
  return text
    .split(/,(?=\s*\w+:\/\/)/)
    .flatMap(serverUrls)
    .map((url) => new URL(url))
    .filter(({ hostname }) => hostname !== '')
    .map(({ hostname, port }) => ({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || standard,
    }));
}

async function anyAccepts(places: readonly Place[], deadline: number): Promise<boolean> {
  for (;;) {
    const left = Math.max(deadline - Date.now(), 1);
    const accepted = await Promise.all(places.map((place) => accepts(place, left)));
    if (accepted.includes(true)) return true;
    if (Date.now() + RETRY_MS >= deadline) return false;
    await sleep(RETRY_MS);
  }
}

function accepts({ host, port }: Place, timeout: number): Promise<boolean> {
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
