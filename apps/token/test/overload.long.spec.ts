import { setTimeout as sleep } from 'node:timers/promises';
import { KeptConnection, type RawAnswer } from '../../../test/support/raw-http.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { REDIRECT_URI } from '#test/support/fixture.js';
import { rawForm } from '#test/support/raw-http.js';
import { startTokenProcess, type TokenProcess } from '#test/support/token-process.js';

interface TimedAnswer extends RawAnswer {
  /** Milliseconds since the request was due. */
  readonly time: number;
}

interface OpenLoop {
  readonly port: number;
  readonly request: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** Maximum number of requests in flight. Requests above this limit are not sent. */
  readonly connections: number;
  /** Called when all connections are open, before the first request. */
  readonly opened?: () => Promise<void>;
}

const TICK_MS = 5;

/** Sends requests at fixed times without waiting for earlier responses, like many independent clients. */
async function openLoop({
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

/** Opens at most 100 connections at a time, because a server's accept queue is short. */
async function openConnections(port: number, count: number): Promise<KeptConnection[]> {
  const opened: KeptConnection[] = [];
  while (opened.length < count) {
    const some = Math.min(100, count - opened.length);
    opened.push(...(await Promise.all(Array.from({ length: some }, () => KeptConnection.open(port)))));
  }
  return opened;
}

/** Number of connections. The process needs about a second for one request of each, so some requests are refused. */
const CROWD = 4_000;
const FEW = 64;
/** Requests per second, more than any machine can serve. */
const ENDLESS = 20_000;
const ROUNDS = 6;
const A_THIRD = 0.35;

let app: TokenProcess;

beforeAll(async () => {
  app = await startTokenProcess();
});

afterAll(() => app.close());

/** Returns a refresh that can be repeated at constant cost, because a retry inside the retry window changes nothing. */
async function refreshRequest(): Promise<string> {
  const code = await app.code(app.ours.client_id, app.userId);
  const redeem = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, ...app.ours };
  const answer = await fetch(app.url + ENDPOINTS.token, {
    method: 'POST',
    body: new URLSearchParams(redeem),
  });
  const { refresh_token } = (await answer.json()) as { refresh_token: string };
  return rawForm(ENDPOINTS.token, { grant_type: 'refresh_token', refresh_token, ...app.ours });
}

const metrics = async (): Promise<string> => (await fetch(`${app.internalUrl}/metrics`)).text();

/** CPU time of the process in seconds, so that other load on the machine does not matter. */
const cpuSeconds = async (): Promise<number> =>
  Number(/^process_cpu_seconds_total\S* (\S+)$/m.exec(await metrics())?.[1]);

const refusalsCounted = async (): Promise<number> =>
  Number(/^oauth_overload_refusals_total\S* (\S+)$/m.exec(await metrics())?.[1]);

interface Run {
  readonly accepted: readonly TimedAnswer[];
  readonly refused: readonly TimedAnswer[];
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

async function load(request: string, perSecond: number, connections: number, seconds = 3): Promise<Run> {
  const port = Number(new URL(app.url).port);
  let [start, cpu] = [NaN, NaN];
  // Excludes the time to open the connections, because real clients keep connections open.
  const opened = async (): Promise<void> => {
    [start, cpu] = [performance.now(), await cpuSeconds()];
  };
  const answers = await openLoop({ port, request, perSecond, seconds, connections, opened });
  const took = (performance.now() - start) / 1000;
  const accepted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 503);
  expect(accepted.length + refused.length).toBe(answers.length);
  return {
    accepted,
    refused,
    perSecond: accepted.length / took,
    perCpuSecond: accepted.length / ((await cpuSeconds()) - cpu),
  };
}

const median = (answers: readonly TimedAnswer[]): number =>
  answers.map(({ time }) => time).toSorted((a, b) => a - b)[answers.length >> 1] ?? NaN;

async function healthDuring(work: Promise<unknown>): Promise<Set<number>> {
  const statuses = new Set<number>();
  const done = work.then(() => true);
  do {
    for (const path of ['/healthz', '/metrics']) statuses.add((await fetch(app.internalUrl + path)).status);
  } while (!(await Promise.race([done, sleep(100, false)])));
  return statuses;
}

// @reliability overload
it('the token app refuses requests early above its capacity, keeps a third of its throughput, and recovers', async () => {
  const request = await refreshRequest();
  // Warms up, because V8 compiles a code path only after some thousand requests.
  await load(request, ENDLESS, FEW);
  const peak = await load(request, ENDLESS, FEW);
  expect(peak.refused).toHaveLength(0);

  // Compares requests per CPU second of the process, so that other load does not matter. Many connections also
  // cause garbage collection.
  const kept = (run: Run): number => run.perCpuSecond / peak.perCpuSecond;
  let overload: Run | undefined;
  let factor = 2;
  // A process that wastes its time on refusals does so in each round. One round can also have met a busy machine.
  for (let round = 0; round < ROUNDS && !(overload?.refused.length && kept(overload) > A_THIRD); round += 1) {
    // The measured peak is too low if the machine was busy. Increases the load until requests are refused.
    if (overload && !overload.refused.length) factor += 1;
    const counted = await refusalsCounted();
    const running = load(request, factor * peak.perSecond, CROWD, 6);
    expect([...(await healthDuring(running))]).toEqual([200]);
    overload = await running;
    expect((await refusalsCounted()) - counted).toBe(overload.refused.length);
  }
  if (!overload) throw new Error('nothing was measured');
  expect(overload.refused.length).toBeGreaterThan(0);
  expect(overload.refused.filter(({ text }) => !/^retry-after: 1\r$/im.test(text))).toEqual([]);
  expect(kept(overload)).toBeGreaterThan(A_THIRD);
  expect(median(overload.accepted)).toBeLessThan((3 * CROWD * 1000) / peak.perSecond);

  const after = await load(request, peak.perSecond / 4, FEW);
  expect(after.refused).toHaveLength(0);
  expect(after.accepted.length).toBeGreaterThan(0);
});
