import type { FactoryProvider } from '@nestjs/common';
import { GrantRecordStore } from '#database/grant/grant-record.store.js';
import { GrantEngine } from '#grants/grant-engine.js';
import { type GrantRedis, GrantStore } from '#grants/grant.store.js';
import { KeyRing } from '#grants/key-ring.js';
import type { Lifetimes } from '#grants/lifetimes.js';
import { TokenCodec } from '#grants/token-codec.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import { SUBJECTS } from '#introspection/contract.js';
import { TokenServiceConnection } from '#platform/nats/nats.connection.js';
import { countTransitions } from '#platform/telemetry/count.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import { REDIS } from '#platform/redis/redis.token.js';

/** All but `created`, which happens in the authorize app. */
const TRANSITIONS = [
  'redeemed',
  'refreshed',
  'retried',
  'restored',
  'revoked',
  'code_replayed',
  'refresh_token_reused',
  'verifier_mismatch',
] as const;

/** The grant engine over this process's stores; `keys` as KeyRing.parse takes them. */
export function grantEngineProvider(keys: string, lifetimes: Lifetimes): FactoryProvider<GrantEngine> {
  const codec = new TokenCodec(KeyRing.parse(keys));
  return {
    provide: GrantEngine,
    inject: [REDIS, GrantRecordStore, TokenServiceConnection, Metrics],
    useFactory: (
      redis: GrantRedis,
      durable: GrantRecordStore,
      connection: TokenServiceConnection,
      metrics: Metrics,
    ) =>
      new GrantEngine({
        store: new GrantStore(redis),
        codec,
        issuer: new TokenIssuer(codec, lifetimes),
        lifetimes,
        durable,
        announce: (id) => connection.publish(SUBJECTS.grantRevoked, { grant_id: id }),
        clock: Date.now,
        observe: countTransitions(metrics, TRANSITIONS),
      }),
  };
}
