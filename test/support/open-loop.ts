import { setTimeout as sleep } from 'node:timers/promises';
import { KeptConnection, type RawAnswer } from './raw-http.js';

export interface TimedAnswer extends RawAnswer {
  /** Milliseconds since the request was due. */
  readonly time: number;
}

export interface OpenLoop {
  readonly port: number;
  /** A raw request: head and body. */
  readonly request: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** The maximum number of requests in flight. Requests due beyond that are not sent. */
  readonly connections: number;
  /** Called when all connections are open, before the first request. */
  readonly opened?: () => Promise<void>;
}

const TICK_MS = 5;

/**
 * Sends requests at fixed times without waiting for earlier responses, like many independent clients.
 * Resolves when all responses have arrived.
 */
export async function openLoop({
  port,
  request,
  perSecond,
  seconds,
  connections,
  opened,
}: OpenLoop): Promise<TimedAnswer[]> {
  const answers: TimedAnswer[] = [];
  const all = await openConnections(port, connections);
  await opened?.();
  const idle = [...all];
  const send = async (dueAt: number): Promise<void> => {
    const connection = idle.pop();
    if (!connection) return;
    const answer = await connection.send(request);
    answers.push({ ...answer, time: performance.now() - dueAt });
    idle.push(connection);
  };
  const start = performance.now();
  let due = 0;
  for (let now = start; now < start + seconds * 1000; now = performance.now()) {
    for (; due < ((now - start) / 1000) * perSecond; due += 1) void send(start + (due / perSecond) * 1000);
    await sleep(TICK_MS);
  }
  while (idle.length < connections) await sleep(TICK_MS);
  for (const connection of all) connection.close();
  return answers;
}

/** Opens a few at a time: a server's accept queue is short. */
async function openConnections(port: number, count: number): Promise<KeptConnection[]> {
  const opened: KeptConnection[] = [];
  while (opened.length < count) {
    const some = Math.min(100, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: some }, () => KeptConnection.open(port)))));
  }
  return opened;
}
