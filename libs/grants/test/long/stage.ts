import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { openFixture } from '#testing/fixture.js';
import { isolate } from '#testing/isolate.js';
import { EngineFleet } from './engine-fleet.js';

/** Stores of their own, two clients, and processes with grant engines over them. */
export interface Stage {
  readonly fleet: EngineFleet;
  readonly redis: Redis;
  readonly clientIds: readonly [string, string];
  readonly userId: number;
  /** Seconds. */
  readonly retryWindow: number;
  close(): Promise<void>;
}

export async function openStage(processes: number, retryWindow: number): Promise<Stage> {
  const services = await isolate();
  const tokenKeys = randomBytes(32).toString('base64url');
  const { databaseUrl, redisUrl } = services;
  const [fixture, fleet] = await Promise.all([
    openFixture(services, tokenKeys),
    EngineFleet.start(processes, { databaseUrl, redisUrl, tokenKeys, retryWindow }),
  ]);
  const [one, other] = [await fixture.client(), await fixture.client()];
  return {
    fleet,
    redis: fixture.redis,
    clientIds: [one.client_id, other.client_id],
    userId: await fixture.user(),
    retryWindow,
    async close() {
      await fleet.stop();
      await fixture.close();
      await services.close();
    },
  };
}
