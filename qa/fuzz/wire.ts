import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { continuationOf } from '#local/demo/html-form.js';

export interface Piece {
  /** Delay before the piece in milliseconds. */
  readonly after: number;
  readonly bytes: Buffer;
}

export interface Transmission {
  readonly pieces: readonly Piece[];
  /** After the last piece, the client waits, closes its sending side, or resets the connection. */
  readonly ending: 'wait' | 'half-close' | 'reset';
  /** Methods of the requests, in order. A response to HEAD has no body. */
  readonly methods: readonly string[];
  /** Number of responses after which the exchange ends; by default, it ends when responses stop arriving. */
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
  /** Bytes after the last complete response, decoded as latin1. */
  readonly rest: string;
  /**
   * `done`: the client closed the connection. `timeout`: the server neither responded nor closed before the deadline.
   */
  readonly end: 'closed' | 'reset' | 'done' | 'timeout';
  readonly milliseconds: number;
}

const IDLE_MS = 150;

/** @param deadline milliseconds in which the server must respond or close */
export function exchange(port: number, transmission: Transmission, deadline: number): Promise<Exchange> {
  const started = performance.now();
  const { pieces, ending, methods, answers: wanted = Infinity } = transmission;
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const chunks: Buffer[] = [];
    let sent = false;
    let idle: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => finish('timeout'), deadline);
    const read = (ended: boolean) => readAnswers(Buffer.concat(chunks), methods, ended);
    const finish = (end: Exchange['end']): void => {
      clearTimeout(timer);
      clearTimeout(idle);
      if (ending === 'reset' && end === 'done') socket.resetAndDestroy();
      else socket.destroy();
      const milliseconds = performance.now() - started;
      resolve({ ...read(end === 'closed' || end === 'reset'), end, milliseconds });
    };
    const checkAnswers = (): void => {
      clearTimeout(idle);
      const { answers } = read(false);
      if (answers.length >= wanted) finish('done');
      else if (answers.length > 0 && wanted === Infinity && sent) idle = setTimeout(finish, IDLE_MS, 'done');
    };
    socket.on('data', (bytes) => {
      chunks.push(bytes);
      checkAnswers();
    });
    socket.on('end', () => finish('closed'));
    socket.on('error', () => finish('reset'));
    void send(socket, pieces).then(() => {
      sent = true;
      if (ending === 'reset') return finish('done');
      if (ending === 'half-close') socket.end();
      checkAnswers();
    });
  });
}

async function send(socket: Socket, pieces: readonly Piece[]): Promise<void> {
  socket.setNoDelay(true);
  for (const { after, bytes } of pieces) {
    if (after > 0) await sleep(after);
    if (!socket.writable) return;
    // Also stops waiting when the connection closes, because the server may never read the bytes.
    await new Promise<void>((resolve) => {
      socket.once('close', resolve);
      socket.write(bytes, () => {
        socket.off('close', resolve);
        resolve();
      });
    });
  }
}

/** Parses complete responses (RFC 9112 6.3). Skips interim responses (1xx). */
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
    const parsed = hasNoBody
      ? { body: Buffer.alloc(0), end: headEnd + 4 }
      : readBody(bytes, headEnd + 4, headers, ended);
    if (!parsed) break;
    at = parsed.end;
    if (status >= 200) answers.push({ status, headers, body: parsed.body });
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

/** Joins repeated headers. */
/** Target of a redirect, or of a page that continues by itself; null for other responses. */
export function locationOf(answer: Answer): string | null {
  return header(answer, 'location') ?? continuationOf(answer.body.toString('utf8'));
}

export function header({ headers }: Answer, name: string): string | undefined {
  const values = headers.filter(([other]) => other === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(', ');
}
