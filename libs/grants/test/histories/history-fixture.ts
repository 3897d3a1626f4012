import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { EngineAnswer, EngineCommand, EngineRequest, EngineSettings } from './engine-command.js';
import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { openFixture } from '#test/support/fixture.js';
import { isolate } from '#test/support/isolate.js';

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
