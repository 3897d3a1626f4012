import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes, and for how many milliseconds the sender waits before it sends them. */
export interface Piece {
  readonly after: number;
  readonly bytes: Buffer;
}

/** What a client does with one connection. */
export interface Transmission {
  readonly pieces: readonly Piece[];
  /** What follows the last piece: the connection stays open, its sending half ends, or it is reset. */
  readonly ending: 'wait' | 'half-close' | 'reset';
  /** The methods of the requests in their order: an answer to HEAD has no body. */
  readonly methods: readonly string[];
  /** After so many answers nothing else is awaited; absent: until a moment without any. */
  readonly answers?: number;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

export interface Exchange {
  readonly answers: readonly Answer[];
  /** What came after the answers and is no complete answer; latin1. */
  readonly rest: string;
  /** `left`: we went, having got what we wanted. `hung`: neither answered nor closed within the deadline. */
  readonly end: 'closed' | 'reset' | 'left' | 'hung';
  readonly milliseconds: number;
}

/** A connection on which an answer came is left when nothing else comes for so long. */
const QUIET_MS = 150;

/** Plays one connection. @param deadline milliseconds from its beginning by which the server must have answered or closed */
export function exchange(port: number, transmission: Transmission, deadline: number): Promise<Exchange> {
  const started = performance.now();
  const { pieces, ending, methods, answers: wanted = Infinity } = transmission;
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const chunks: Buffer[] = [];
    let sent = false;
    let quiet: NodeJS.Timeout | undefined;
    const late = setTimeout(() => leave('hung'), deadline);
    const read = (ended: boolean) => readAnswers(Buffer.concat(chunks), methods, ended);
    const leave = (end: Exchange['end']): void => {
      clearTimeout(late);
      clearTimeout(quiet);
      if (ending === 'reset' && end === 'left') socket.resetAndDestroy();
      else socket.destroy();
      const milliseconds = performance.now() - started;
      resolve({ ...read(end === 'closed' || end === 'reset'), end, milliseconds });
    };
    const look = (): void => {
      clearTimeout(quiet);
      const { answers } = read(false);
      if (answers.length >= wanted) leave('left');
      else if (answers.length > 0 && wanted === Infinity && sent) quiet = setTimeout(leave, QUIET_MS, 'left');
    };
    socket.on('data', (bytes) => {
      chunks.push(bytes);
      look();
    });
    socket.on('end', () => leave('closed'));
    socket.on('error', () => leave('reset'));
    void send(socket, pieces).then(() => {
      sent = true;
      if (ending === 'reset') return leave('left');
      if (ending === 'half-close') socket.end();
      look();
    });
  });
}

async function send(socket: Socket, pieces: readonly Piece[]): Promise<void> {
  socket.setNoDelay(true);
  for (const { after, bytes } of pieces) {
    if (after > 0) await sleep(after);
    if (!socket.writable) return;
    // The end of the connection ends the wait as well: a peer that reads nothing holds up nobody.
    await new Promise<void>((resolve) => {
      socket.once('close', resolve);
      socket.write(bytes, () => {
        socket.off('close', resolve);
        resolve();
      });
    });
  }
}

/** Reads HTTP/1.1 answers (RFC 9112 6.3). Interim ones (1xx) are skipped. */
export function readAnswers(
  bytes: Buffer,
  methods: readonly string[],
  ended: boolean,
): Pick<Exchange, 'answers' | 'rest'> {
  const answers: Answer[] = [];
  let at = 0;
  for (;;) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    if (headEnd < 0) break;
    const [statusLine = '', ...lines] = bytes.toString('latin1', at, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine)?.[1] ?? NaN);
    if (Number.isNaN(status)) break;
    const headers = lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    });
    const hasNoBody = status < 200 || status === 204 || status === 304 || methods[answers.length] === 'HEAD';
    const found = hasNoBody
      ? { body: Buffer.alloc(0), end: headEnd + 4 }
      : readBody(bytes, headEnd + 4, headers, ended);
    if (!found) break;
    at = found.end;
    if (status >= 200) answers.push({ status, headers, body: found.body });
  }
  return { answers, rest: bytes.toString('latin1', at) };
}

function readBody(
  bytes: Buffer,
  start: number,
  headers: Answer['headers'],
  ended: boolean,
): { body: Buffer; end: number } | undefined {
  const value = (name: string) => headers.find(([other]) => other === name)?.[1];
  if (value('transfer-encoding') === 'chunked') return readChunks(bytes, start);
  const length = value('content-length');
  if (length === undefined) return ended ? { body: bytes.subarray(start), end: bytes.length } : undefined;
  const end = start + Number(length);
  return end <= bytes.length ? { body: bytes.subarray(start, end), end } : undefined;
}

function readChunks(bytes: Buffer, start: number): { body: Buffer; end: number } | undefined {
  const parts: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (!(end <= bytes.length)) return undefined;
    if (size === 0) return { body: Buffer.concat(parts), end };
    parts.push(bytes.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}

/** The value of an answer's header, and those of a repeated one joined. */
export function header({ headers }: Answer, name: string): string | undefined {
  const values = headers.filter(([other]) => other === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(', ');
}
