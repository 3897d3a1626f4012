import { grantId, TokenCodec } from '#grants/token-codec.js';
import { KeyRing } from '#grants/key-ring.js';
import type { RedisCluster } from '#testing/topology/redis-cluster.js';
import type { RedisNode } from '#testing/topology/redis-node.js';
import { until } from '#testing/topology/until.js';
import { type Pair, pairOf } from './application.js';
import type { BusyProduct } from './busy-product.js';
import type { ClusteredProduct } from './clustered-product.js';
import { untilReady } from './readiness-watch.js';

const BACK_MS = 60_000;

/** What became of it on a master that fell before its replica had heard of it. */
export interface LostWrites {
  /** Codes. */
  readonly redeemed: string;
  readonly unredeemed: string;
  /** What the redemption gave, what a refresh gave, what was revoked. */
  readonly first: Pair;
  readonly rotated: Pair;
  readonly revoked: Pair;
}

/** Redeems, refreshes and revokes on one master, and lets that be lost. Resolves when the service is back. */
export async function loseWrites(
  redis: RedisCluster,
  product: ClusteredProduct,
  busy: BusyProduct,
): Promise<LostWrites> {
  const { application } = busy;
  const { master, codes } = await fourOfOneMaster(redis, product.keys, busy);
  const [one, other, redeemed, unredeemed] = codes as [string, string, string, string];
  const before = pairOf(await application.redeem(one));
  const revoked = pairOf(await application.redeem(other));
  const replica = await redis.forgetful(master);
  const first = pairOf(await application.redeem(redeemed));
  const rotated = pairOf(await application.refresh(before));
  expect((await application.revoke(revoked.refresh_token)).status).toBe(200);
  await master.kill();
  await until('the fall is noticed', BACK_MS, async () => {
    const answers = await Promise.all(product.apps.map(({ internalUrl }) => fetch(`${internalUrl}/readyz`)));
    return answers.some(({ ok }) => !ok);
  });
  replica.signal('SIGCONT');
  await untilReady(product.apps, BACK_MS);
  return { redeemed, unredeemed, first, rotated, revoked };
}

async function fourOfOneMaster(
  redis: RedisCluster,
  keys: string,
  busy: BusyProduct,
): Promise<{ master: RedisNode; codes: readonly string[] }> {
  const codec = new TokenCodec(KeyRing.parse(keys));
  const found = new Map<RedisNode, string[]>();
  for (;;) {
    const { code } = await busy.connect();
    const id = grantId(codec.decode(code)?.handle ?? Buffer.alloc(0));
    const master = await redis.masterOf(`grant:${id}`);
    const codes = [...(found.get(master) ?? []), code];
    found.set(master, codes);
    if (codes.length === 4) return { master, codes };
  }
}
