import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Diagnosis } from '#diagnosis/diagnose.js';
import { DoctorService } from '#diagnosis/doctor.service.js';
import { type KeyList, KeyService } from '#keys/operations/key.service.js';
import { failureText } from '#operations/failure-text.js';
import { RunningServices } from '#operations/running-services/running-services.js';
import { askServices } from '#operations/running-services/status.js';
import { type RedisClient, withRedisErrors } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { CLOCK, type Clock } from '#platform/clock.js';

/** Seconds for which an unfinished check blocks the next check; its process may have been killed. */
const LIMIT = 120;
const KEPT = 7 * 86_400;
const [RUNNING, RESULT] = ['console:health:running', 'console:health:result'];

export type Part<Value> = { readonly value: Value } | { readonly problem: string };

interface Health {
  readonly at: number;
  readonly by: string;
  readonly diagnosis: Part<Diagnosis>;
  readonly processes: Part<readonly ServiceStatus[]>;
  readonly keys: Part<KeyList>;
}

export interface HealthState {
  readonly last: Health | null;
  readonly isRunning: boolean;
}

/** Runs checks in the background, because a check waits seconds for replies. All processes show the result. */
@Injectable()
export class HealthCheckService {
  private readonly logger = new Logger('health check');

  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly doctor: DoctorService,
    private readonly keys: KeyService,
    private readonly services: RunningServices,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async read(): Promise<HealthState> {
    const [text, running] = await withRedisErrors(
      Promise.all([this.redis.get(RESULT), this.redis.get(RUNNING)]),
    );
    return { last: text === null ? null : (JSON.parse(text) as Health), isRunning: running !== null };
  }

  /** Does nothing while a check is running. */
  async start(by: string): Promise<void> {
    const id = randomBytes(9).toString('base64url');
    if ((await withRedisErrors(this.redis.set(RUNNING, id, 'EX', LIMIT, 'NX'))) === null) return;
    void this.run(by)
      .catch((error: unknown) => this.logger.error(error))
      .then(async () => {
        if ((await this.redis.get(RUNNING)) === id) await this.redis.del(RUNNING);
      })
      .catch((error: unknown) => this.logger.error(error));
  }

  private async run(by: string): Promise<void> {
    const [diagnosis, processes, keys] = await Promise.all([
      part(this.doctor.diagnose()),
      part(askServices(this.services).then(({ statuses }) => statuses)),
      part(this.keys.list().then(({ list }) => list)),
    ]);
    const health: Health = { at: this.clock(), by, diagnosis, processes, keys };
    await withRedisErrors(this.redis.set(RESULT, JSON.stringify(health), 'EX', KEPT));
  }
}

async function part<Value>(reading: Promise<Value>): Promise<Part<Value>> {
  try {
    return { value: await reading };
  } catch (error) {
    return { problem: failureText(error) };
  }
}
