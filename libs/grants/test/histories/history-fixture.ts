import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { openFixture } from '#test/support/fixture.js';
import { isolate } from '#test/support/isolate.js';
import type { EngineAnswer, EngineCommand } from './engine-command.js';
import { EngineFleet } from './engine-fleet.js';

/** Isolated stores, two clients, and engine processes. */
export interface HistoryEnvironment {
  readonly fleet: { ask(process: number, command: EngineCommand): Promise<EngineAnswer> };
  readonly redis: Redis;
  readonly clientIds: readonly [string, string];
  readonly userId: number;
  /** Seconds. */
  readonly retryWindow: number;
}

/** Provides environments with any retry window on the same processes, which start slowly. */
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
      fleet: { ask: (process, command) => fleet.ask(process, command, retryWindow) },
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
