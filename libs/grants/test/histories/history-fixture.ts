import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import fc from 'fast-check';
import { openFixture } from '#test/support/fixture.js';
import { isolate } from '#test/support/isolate.js';
import type { EngineAnswer, EngineCommand, EngineRequest, EngineSettings } from './engine-process.js';

const PROGRAM = fileURLToPath(new URL('./engine-process.ts', import.meta.url));
const LOADER = new URL('../../../../test/jest/register-typescript.mjs', import.meta.url).href;

class EngineFleet {
  private readonly waiting = new Map<number, (answer: EngineAnswer) => void>();
  private next = 0;

  private constructor(private readonly processes: readonly ChildProcess[]) {
    for (const process of processes) {
      process.on('message', ({ id, answer }: { id: number; answer: EngineAnswer }) => {
        this.waiting.get(id)?.(answer);
        this.waiting.delete(id);
      });
    }
  }

  static async start(size: number, settings: EngineSettings): Promise<EngineFleet> {
    const processes = await Promise.all(Array.from({ length: size }, () => startOne(settings)));
    return new EngineFleet(processes);
  }

  get size(): number {
    return this.processes.length;
  }

  /** Sends a command. Responses may arrive in another order. @param retryWindow seconds */
  send(process: number, command: EngineCommand, retryWindow: number): Promise<EngineAnswer> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, resolve);
      this.processes[process % this.size]?.send(
        { id, command, retryWindow } satisfies EngineRequest,
        (error) => error && reject(error),
      );
    });
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.processes.map(async (process) => {
        const ended = once(process, 'exit');
        process.disconnect();
        await ended;
      }),
    );
  }
}

async function startOne(settings: EngineSettings): Promise<ChildProcess> {
  const child = fork(PROGRAM, {
    execArgv: ['--no-warnings', '--import', LOADER],
    env: { PATH: process.env['PATH'], ENGINE_SETTINGS: JSON.stringify(settings) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`an engine process ended before it was ready: exit code ${String(code)}`);
  });
  ended.catch(() => undefined);
  await Promise.race([once(child, 'message'), ended]);
  return child;
}

export interface HistoryEnvironment {
  readonly fleet: { send(process: number, command: EngineCommand): Promise<EngineAnswer> };
  readonly redis: Redis;
  readonly clientIds: readonly [string, string];
  readonly userId: number;
  /** In seconds. */
  readonly retryWindow: number;
}

export interface HistoryFixture {
  environment(retryWindow: number): HistoryEnvironment;
  close(): Promise<void>;
}

export async function openHistoryFixture(processes: number): Promise<HistoryFixture> {
  const services = await isolate();
  const tokenKeys = randomBytes(32).toString('base64url');
  const { databaseUrl, redisUrl } = services;
  const [fixture, fleet] = await Promise.all([
    openFixture(services, tokenKeys),
    EngineFleet.start(processes, { databaseUrl, redisUrl, tokenKeys }),
  ]);
  const [one, other] = [await fixture.client(), await fixture.client()];
  const userId = await fixture.user();
  return {
    environment: (retryWindow) => ({
      fleet: { send: (process, command) => fleet.send(process, command, retryWindow) },
      redis: fixture.redis,
      clientIds: [one.client_id, other.client_id],
      userId,
      retryWindow,
    }),
    async close() {
      await fleet.stop();
      await fixture.close();
      await services.close();
    },
  };
}

/** Event of a grant. `back` counts back from the newest pair of the grant. */
export type Event =
  | { readonly do: 'refresh'; readonly places: number; readonly lost: boolean }
  | { readonly do: 'use' }
  | { readonly do: 'replay'; readonly back: number }
  | { readonly do: 'replay-code' }
  | { readonly do: 'foreign'; readonly back: number }
  | { readonly do: 'introspect'; readonly back: number }
  | { readonly do: 'revoke' }
  /** A replica or a backup copies Redis. */
  | { readonly do: 'copy' }
  | { readonly do: 'wipe' }
  /** The copy replaces the data in Redis, which loses the latest writes. */
  | { readonly do: 'fall-back' };

interface GrantEvent {
  readonly grant: number;
  readonly process: number;
  readonly event: Event;
}

/** Concurrent events, and the pause in seconds until the next round. */
interface Round {
  readonly happenings: readonly GrantEvent[];
  readonly pause: number;
}

export interface History {
  /** Number of grants, which belong to two clients alternately. */
  readonly grants: number;
  readonly rounds: readonly Round[];
}

const back = fc.nat({ max: 3 });
const occasionally = fc.integer({ min: 0, max: 3 }).map((n) => n === 0);

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 24,
    arbitrary: fc.record({
      do: fc.constant('refresh' as const),
      places: fc.constantFrom(1, 1, 2, 3),
      lost: occasionally,
    }),
  },
  { weight: 6, arbitrary: fc.constant({ do: 'use' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('replay' as const), back }) },
  { weight: 1, arbitrary: fc.constant({ do: 'replay-code' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('foreign' as const), back }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('introspect' as const), back }) },
  { weight: 2, arbitrary: fc.constant({ do: 'revoke' as const }) },
  { weight: 4, arbitrary: fc.constant({ do: 'copy' as const }) },
  { weight: 5, arbitrary: fc.constant({ do: 'wipe' as const }) },
  { weight: 4, arbitrary: fc.constant({ do: 'fall-back' as const }) },
);

const round = fc.record({
  happenings: fc.array(fc.record({ grant: fc.nat({ max: 2 }), process: fc.nat({ max: 3 }), event }), {
    minLength: 1,
    maxLength: 5,
  }),
  // Pauses inside and outside the retry window, and until an access token or a refresh token has expired.
  pause: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(0, 0, 1, 9, 20) },
    { weight: 5, arbitrary: fc.constantFrom(30, 40) },
    { weight: 2, arbitrary: fc.constant(31 * 60) },
    { weight: 1, arbitrary: fc.constant(91 * 24 * 60 * 60) },
  ),
});

/** Random events of a few grants while Redis loses data. */
export const histories: fc.Arbitrary<History> = fc.record({
  grants: fc.integer({ min: 1, max: 3 }),
  rounds: fc.array(round, { minLength: 1, maxLength: 12 }),
});
