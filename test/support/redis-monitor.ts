import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/** Receives a command. The source is `lua` if a script executed the command. */
export type CommandListener = (command: readonly string[], source: string) => void;

/**
 * Reports every command to the URL's logical database, except the TIME that clients send every second.
 * Resolves when monitoring has begun. Does not use ioredis,
 * which fails if the first command arrives in the same packet as the reply to MONITOR.
 *
 * @returns a function that ends the monitoring
 */
export async function monitorRedis(url: string, onCommand: CommandListener): Promise<() => void> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const database = pathname.slice(1) || '0';
  const socket = connect(Number(port || 6379), hostname);
  const login = [username, password].map(decodeURIComponent).filter(Boolean);
  if (login.length > 0) socket.write(request('AUTH', ...login));
  socket.write(request('MONITOR'));
  const lines = createInterface({ input: socket, crlfDelay: Infinity });
  let answers = login.length > 0 ? 2 : 1;
  const started = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    lines.on('line', (line) => {
      if (line === '+OK') return --answers === 0 && resolve();
      // A line contains the time, the database, the source, and the quoted words of the command.
      const [, db, source = '', words = ''] = /^\+[\d.]+ \[(\d+) ([^\]]+)\] (.*)$/.exec(line) ?? [];
      if (db === undefined) reject(new Error(`Redis answered: ${line}`));
      if (db === database && !isClockReading(words, source)) onCommand(wordsOf(words), source);
    });
  });
  await started.catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
  return () => void socket.destroy();
}

function isClockReading(words: string, source: string): boolean {
  return source !== 'lua' && words.toLowerCase() === '"time"';
}

function request(...words: string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${parts.join('')}`;
}

/** Parses the quoted words of a line. Escaped unprintable bytes are not decoded. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) =>
    word.replaceAll(/\\(["\\])/g, '$1'),
  );
}
