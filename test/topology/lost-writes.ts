import { setTimeout as sleep } from 'node:timers/promises';
import { grantId, TokenCodec } from '#grants/token-codec.js';
import { KeyRing } from '#keys/key-ring.js';
import type { RedisCluster, RedisNode } from './redis-cluster.js';
import { until } from '../support/until.js';
import type { LoadedProduct } from './loaded-product.js';
import type { ClusteredProduct } from './clustered-product.js';
import { pairOf, untilReady } from './retrying-client.js';
import type { Pair } from '../support/tokens.js';

const RECOVERY_DEADLINE_MS = 60_000;
/** Longer than the interval of the reconciler (5 s), even on a busy machine. */
const PASS_MS = 8_000;

/** Codes and tokens of a Redis master that failed before it replicated its last writes. */
export interface LostWrites {
  readonly redeemed: string;
  readonly unredeemed: string;
  /** Tokens of the lost redemption, of the lost refresh (`rotated`), and of the lost revocation (`revoked`). */
  readonly first: Pair;
  readonly rotated: Pair;
  readonly revoked: Pair;
}

/** Kills a master before it has replicated its last writes. Resolves after the recovery. */
export async function loseLatestWrites(
  redis: RedisCluster,
  product: ClusteredProduct,
  loaded: LoadedProduct,
): Promise<LostWrites> {
  const { application } = loaded;
  const { master, codes } = await fourCodesOfOneMaster(redis, product.keys, loaded);
  const [refreshCode, revokeCode, redeemed, unredeemed] = codes as [string, string, string, string];
  const before = pairOf(await application.redeem(refreshCode));
  const revoked = pairOf(await application.redeem(revokeCode));
  const replica = await redis.isolateReplica(master);
  const first = pairOf(await application.redeem(redeemed));
  const rotated = pairOf(await application.refresh(before.refresh_token));
  expect((await application.revoke(revoked.refresh_token)).status).toBe(200);
  // After two passes, the reconciler repeats the revocation only if it detects the loss.
  await sleep(2 * PASS_MS);
  await master.kill();
  await until('the failure is noticed', RECOVERY_DEADLINE_MS, async () => {
    const answers = await Promise.all(product.apps.map(({ internalUrl }) => fetch(`${internalUrl}/readyz`)));
    return answers.some(({ ok }) => !ok);
  });
  replica.signal('SIGCONT');
  await untilReady(product.apps, RECOVERY_DEADLINE_MS);
  return { redeemed, unredeemed, first, rotated, revoked };
}

async function fourCodesOfOneMaster(
  redis: RedisCluster,
  keys: string,
  loaded: LoadedProduct,
): Promise<{ master: RedisNode; codes: readonly string[] }> {
  const codec = new TokenCodec(KeyRing.parse(keys));
  const found = new Map<RedisNode, string[]>();
  for (;;) {
    const { code } = await loaded.authorizeAgain();
    const id = grantId(codec.decode(code)?.handle ?? Buffer.alloc(0));
    const master = await redis.masterOf(`grant:${id}`);
    const codes = [...(found.get(master) ?? []), code];
    found.set(master, codes);
    if (codes.length === 4) return { master, codes };
  }
}
