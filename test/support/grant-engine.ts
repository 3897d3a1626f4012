import type { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { GivenUpRequests } from '#grants/given-up.js';
import { GrantEngine } from '#grants/grant-engine.js';
import type { CountTransition } from '#grants/grant.js';
import { GrantStore } from '#grants/grant.store.js';
import { KeyRing } from '#keys/key-ring.js';
import { DEFAULT_LIFETIMES, type Lifetimes } from '#grants/lifetimes.js';
import { type RevocationPublisher, RevocationService } from '#grants/revocation.service.js';
import { TokenCodec } from '#grants/token-codec.js';
import { TokenIssuer } from '#grants/token-issuer.js';
import type { RedisClient } from '#platform/redis/redis-client.js';

export interface TestEngineOptions {
  readonly redis: RedisClient;
  readonly records: GrantRecordStore;
  /** Keys in the format of `KeyRing.parse`. */
  readonly tokenKeys: string;
  readonly lifetimes?: Lifetimes;
  readonly clock?: () => number;
  readonly publisher?: RevocationPublisher;
  readonly count?: CountTransition;
  readonly givenUp?: GivenUpRequests;
  /** A codec with the token keys, whose derivation takes longer than a request. */
  readonly codec?: TokenCodec;
  /** Wraps the store that the engine uses. */
  readonly wrap?: (store: GrantStore) => GrantStore;
}

/** Creates the services of grants. Revocations are broadcast only with a publisher. */
export function grantEngine({
  redis,
  records,
  tokenKeys,
  lifetimes = DEFAULT_LIFETIMES,
  clock = Date.now,
  publisher = { publish: () => Promise.resolve(true) },
  count = () => undefined,
  givenUp = new GivenUpRequests(),
  codec = new TokenCodec(KeyRing.parse(tokenKeys)),
  wrap = (store) => store,
}: TestEngineOptions) {
  const store = wrap(new GrantStore(redis, count));
  const issuer = new TokenIssuer(codec, lifetimes);
  const revocations = new RevocationService(records, store, publisher, lifetimes, count);
  const engine = new GrantEngine(
    store,
    codec,
    issuer,
    records,
    revocations,
    lifetimes,
    clock,
    count,
    givenUp,
  );
  return { engine, revocations, store, issuer, codec };
}
