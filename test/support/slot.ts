import { Redis } from 'ioredis';
import { NATS_ACCOUNTS } from '#local/servers/nats.js';
import type { TestServices } from './test-services.js';

const CURSOR = 'oauth-test:slot';
// Seconds after which the slots of a killed test run expire.
const LEASE = 3_600;

/** A logical database of Redis, and the NATS account with the same number. */
export interface Slot {
  redisUrl: string;
  natsUrl: string;
  release(): Promise<void>;
}

/** Claims an empty logical database. Database 0 stores the claims. */
export async function claimSlot(services: TestServices): Promise<Slot> {
  const book = connect(services.redisUrl);
  try {
    const count = await databaseCount(book);
    for (let tries = 1; tries < count; tries += 1) {
      const number = 1 + ((await book.incr(CURSOR)) % (count - 1));
      const mine = await book.set(`${CURSOR}:${number}`, services.run, 'EX', LEASE, 'NX');
      if (!mine) continue;
      const url = redisUrl(services.redisUrl, number);
      // On a shared server, another program may use this database.
      if ((await size(url)) > 0) continue;
      return {
        redisUrl: url,
        natsUrl: natsUrl(services.natsUrl, number),
        release: () => release(services, number),
      };
    }
    throw new Error(`all ${count - 1} logical databases of Redis are in use: close() what isolate() gave`);
  } finally {
    book.disconnect();
  }
}

async function release(services: TestServices, number: number): Promise<void> {
  const client = connect(redisUrl(services.redisUrl, number));
  try {
    await client.multi().flushdb().select(0).del(`${CURSOR}:${number}`).exec();
  } finally {
    client.disconnect();
  }
}

async function databaseCount(book: Redis): Promise<number> {
  // A managed Redis may forbid CONFIG. The default is 16.
  const answer = await book.config('GET', 'databases').catch(() => []);
  const count = Number((answer as string[])[1] ?? 16);
  if (count > 1) return count;
  throw new Error(
    'the Redis of REDIS_URL has one database only (a cluster): unset REDIS_URL so that a private one is started',
  );
}

async function size(url: string): Promise<number> {
  const client = connect(url);
  try {
    return await client.dbsize();
  } finally {
    client.disconnect();
  }
}

function connect(url: string): Redis {
  return new Redis(url, { maxRetriesPerRequest: 1 });
}

function redisUrl(url: string, number: number): string {
  const changed = new URL(url);
  changed.pathname = `/${number}`;
  return changed.href;
}

/**
 * Returns the URL of an account, which exists only on our private server. Suites on another server share subjects.
 */
function natsUrl(url: string, number: number): string {
  const changed = new URL(url);
  if (changed.username !== 'account0') return url;
  changed.username = `account${number % NATS_ACCOUNTS}`;
  return changed.href;
}
