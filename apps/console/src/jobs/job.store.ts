import { Inject, Injectable } from '@nestjs/common';
import {
  defineScripts,
  type RedisClient,
  type RunScript,
  script,
  withRedisErrors,
} from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';

const LIFETIME = 7 * 24 * 60 * 60;

/** Milliseconds after which a process loses a job unless it renews its lease. */
export const LEASE_MS = 15_000;

const MAX_JOBS = 100;
/** Limit of the stored failures, which a retry repeats. */
export const MAX_FAILURES = 1_000;
const SHOWN_FAILURES = 100;
const MAX_WARNINGS = 1_000;

export interface NewJob {
  readonly id: string;
  readonly action: string;
  readonly operator: string;
  readonly items: readonly string[];
  readonly total: number;
}

interface Failure {
  readonly item: string;
  readonly reason: string;
}

/**
 * - `running`: a process is working on the job
 * - `interrupted`: no process is working on the job, because its process ended or an error occurred
 * - `stopped`: an operator stopped the job
 * - `refused`: the operator of the job lost the role, or all sessions of the operator were ended
 */
export type JobState = 'running' | 'interrupted' | 'stopped' | 'refused' | 'finished';

export interface Job extends Pick<NewJob, 'id' | 'action' | 'operator' | 'total'> {
  readonly state: JobState;
  /** Milliseconds since the epoch; `endedAt` is null before the end. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly done: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
  /** Distinct, in no particular order. */
  readonly warnings: readonly string[];
}

/** `more`: the item needs another step. */
export interface StepOutcome {
  readonly done: number;
  readonly more: boolean;
  readonly failure: string | null;
  readonly warnings: readonly string[];
}

const OWNED = `
if redis.call('HGET', KEYS[1], 'owner') ~= owner or redis.call('HGET', KEYS[1], 'state') ~= 'running' then return false end`;

/** KEYS: job, items, failures, warnings. `owner` is a random id of one run in one process. */
const SCRIPTS = {
  // ARGV ends with the items.
  jobCreate: script(
    ['action', 'operator', 'total', 'ttl'],
    `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'action', action, 'operator', operator, 'total', total, 'started', server_now, 'done', 0, 'failed', 0, 'state', 'running', 'lease', 0)
for n = LIST, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[n]) end
redis.call('EXPIRE', KEYS[1], ttl)
redis.call('EXPIRE', KEYS[2], ttl)
return 1`,
  ),
  jobClaim: script(
    ['owner', 'operator', 'lease'],
    `
local state, earlier_lease = unpack(redis.call('HMGET', KEYS[1], 'state', 'lease'))
if not state or state == 'finished' or tonumber(earlier_lease) > server_now then return 0 end
redis.call('HSET', KEYS[1], 'state', 'running', 'owner', owner, 'lease', server_now + lease, 'operator', operator)
redis.call('HDEL', KEYS[1], 'ended')
return 1`,
  ),
  // Renews the lease and returns the next item, or finishes the job if no item is left.
  jobNext: script(
    ['owner', 'lease'],
    `${OWNED}
local item = redis.call('LINDEX', KEYS[2], 0)
if item then redis.call('HSET', KEYS[1], 'lease', server_now + lease)
else redis.call('HSET', KEYS[1], 'state', 'finished', 'lease', 0, 'ended', server_now) end
return item`,
  ),
  // ARGV ends with the warnings.
  jobAdvance: script(
    ['owner', 'item', 'done', 'more', 'failure', 'max_failures', 'max_warnings', 'ttl'],
    `${OWNED}
if redis.call('LINDEX', KEYS[2], 0) ~= item then return false end
redis.call('HINCRBY', KEYS[1], 'done', done)
if more == '0' then redis.call('LPOP', KEYS[2]) end
if failure ~= '' then
  redis.call('HINCRBY', KEYS[1], 'failed', 1)
  if redis.call('RPUSH', KEYS[3], failure) > tonumber(max_failures) then redis.call('RPOP', KEYS[3]) end
  redis.call('EXPIRE', KEYS[3], ttl)
end
for n = LIST, #ARGV do
  if redis.call('SCARD', KEYS[4]) < tonumber(max_warnings) then redis.call('SADD', KEYS[4], ARGV[n]) end
end
redis.call('EXPIRE', KEYS[4], ttl)
return true`,
  ),
  // Releases the lease, and ends the job with the state if one is given.
  jobLeave: script(
    ['owner', 'state'],
    `${OWNED}
redis.call('HSET', KEYS[1], 'lease', 0)
if state then redis.call('HSET', KEYS[1], 'state', state, 'ended', server_now) end
return true`,
  ),
  jobStop: script(
    [],
    `
if redis.call('HGET', KEYS[1], 'state') ~= 'running' then return 0 end
redis.call('HSET', KEYS[1], 'state', 'stopped', 'lease', 0, 'ended', server_now)
return 1`,
  ),
  jobRead: script(
    ['last_failure'],
    `
return { redis.call('HGETALL', KEYS[1]), redis.call('LRANGE', KEYS[3], 0, last_failure), redis.call('SMEMBERS', KEYS[4]), server_now }`,
  ),
};

/**
 * A process owns a job until the job ends, or another process claims the job after the lease has expired. Each step is
 * one script, which changes nothing if the process does not own the job.
 */
@Injectable()
export class JobStore {
  private readonly run: RunScript<typeof SCRIPTS>;

  constructor(@Inject(REDIS) private readonly redis: RedisClient) {
    this.run = defineScripts(redis, SCRIPTS);
  }

  async create({ id, action, operator, items, total }: NewJob): Promise<boolean> {
    const values = { action, operator, total, ttl: LIFETIME };
    const created = await this.run('jobCreate', keysOf(id), values, items);
    const listed = this.redis
      .multi()
      .zadd(LIST, 'NX', Date.now(), id)
      .zremrangebyrank(LIST, 0, -1 - MAX_JOBS)
      .expire(LIST, LIFETIME);
    await withRedisErrors(listed.exec());
    return created === 1;
  }

  async claim(id: string, owner: string, operator: string): Promise<boolean> {
    return (await this.run('jobClaim', keysOf(id), { owner, operator, lease: LEASE_MS })) === 1;
  }

  /** Renews the lease. @returns null if nothing is left to do, or this process no longer owns the job */
  async next(id: string, owner: string): Promise<string | null> {
    return (await this.run('jobNext', keysOf(id), { owner, lease: LEASE_MS })) as string | null;
  }

  async advance(
    id: string,
    owner: string,
    item: string,
    { done, more, failure, warnings }: StepOutcome,
  ): Promise<void> {
    const values = {
      owner,
      item,
      done,
      more: more ? 1 : 0,
      failure: failure === null ? null : JSON.stringify({ item, reason: failure } satisfies Failure),
      max_failures: MAX_FAILURES,
      max_warnings: MAX_WARNINGS,
      ttl: LIFETIME,
    };
    await this.run('jobAdvance', keysOf(id), values, warnings);
  }

  async leave(id: string, owner: string, state: 'refused' | null): Promise<void> {
    await this.run('jobLeave', keysOf(id), { owner, state });
  }

  async stop(id: string): Promise<void> {
    await this.run('jobStop', keysOf(id), {});
  }

  /** @param limit number of failures to return */
  async find(id: string, limit = SHOWN_FAILURES): Promise<Job | null> {
    const [flat, failures, warnings, now] = (await this.run('jobRead', keysOf(id), {
      last_failure: limit - 1,
    })) as [string[], string[], string[], number];
    if (flat.length === 0) return null;
    const fields = new Map(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : [])));
    const text = (name: string) => fields.get(name) ?? '';
    const state = text('state') as JobState;
    return {
      id,
      action: text('action'),
      operator: text('operator'),
      total: Number(text('total')),
      done: Number(text('done')),
      failed: Number(text('failed')),
      startedAt: Number(text('started')),
      endedAt: fields.has('ended') ? Number(text('ended')) : null,
      state: state === 'running' && Number(text('lease')) <= now ? 'interrupted' : state,
      failures: failures.map((failure) => JSON.parse(failure) as Failure),
      warnings,
    };
  }

  async list(): Promise<Job[]> {
    const ids = await withRedisErrors(this.redis.zrevrange(LIST, 0, MAX_JOBS - 1));
    const jobs = await Promise.all(ids.map((id) => this.find(id)));
    return jobs.filter((job) => job !== null);
  }
}

const LIST = 'console:jobs';

const keysOf = (id: string): string[] => [
  `console:job:{${id}}`,
  `console:job:{${id}}:items`,
  `console:job:{${id}}:failures`,
  `console:job:{${id}}:warnings`,
];
