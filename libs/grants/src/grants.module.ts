import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { TokenKeyStore } from '#keys/token-key.store.js';
import { StatusReport } from '#platform/status/status-report.js';
import { Metrics } from '#platform/telemetry/metrics.js';
import type { GrantTransition } from './grant.js';
import { GivenUpRequests } from './given-up.js';
import { GrantEngine } from './grant-engine.js';
import { COUNT_TRANSITION, countTransitions, GrantStore } from './grant.store.js';
import { KeyRing } from '#keys/key-ring.js';
import { KeyRingRecorder, type RecordedRing } from '#keys/key-ring-recorder.js';
import { Lifetimes } from './lifetimes.js';
import { PushedRequestStore } from './pushed-request.store.js';
import { RevocationPublisher, RevocationService } from './revocation.service.js';
import { TokenCodec } from './token-codec.js';
import { TokenIssuer } from './token-issuer.js';
import { UnredeemedGrantsService } from './unredeemed-grants.service.js';
import { UserCodeStore } from './user-code.store.js';

export interface GrantsOptions {
  /** Modules that provide the PostgreSQL stores, Redis, and the dependencies of `publisher`. */
  readonly imports: NonNullable<DynamicModule['imports']>;
  readonly tokenKeys: string;
  readonly lifetimes: Lifetimes;
  readonly otherRings?: readonly RecordedRing[];
  readonly publisher: Provider<RevocationPublisher>;
  readonly transitions: readonly GrantTransition[];
  /** The default stays within this process. Required if several processes redeem codes. */
  readonly givenUp?: Provider<GivenUpRequests>;
}

/** GrantStore is not exported, because only GrantEngine and RevocationService change the state of a grant. */
const EXPORTED_PROVIDERS = [
  PushedRequestStore,
  UserCodeStore,
  RevocationService,
  UnredeemedGrantsService,
  GrantEngine,
];

@Module({})
export class GrantsModule {
  constructor(keys: KeyRing, status: StatusReport) {
    status.register('keys', () => keys.keys);
  }

  static forRoot({
    imports,
    tokenKeys,
    lifetimes,
    otherRings = [],
    publisher,
    transitions,
    givenUp = GivenUpRequests,
  }: GrantsOptions): DynamicModule {
    const keys = KeyRing.parse(tokenKeys);
    const codec = new TokenCodec(keys);
    return {
      module: GrantsModule,
      imports,
      providers: [
        { provide: Lifetimes, useValue: lifetimes },
        {
          provide: COUNT_TRANSITION,
          inject: [Metrics],
          useFactory: (metrics: Metrics) => countTransitions(metrics, transitions),
        },
        { provide: KeyRing, useValue: keys },
        { provide: TokenCodec, useValue: codec },
        { provide: TokenIssuer, useValue: new TokenIssuer(codec, lifetimes) },
        publisher,
        givenUp,
        {
          provide: KeyRingRecorder,
          inject: [TokenKeyStore],
          useFactory: (store: TokenKeyStore) =>
            new KeyRingRecorder([tokenRing(keys, lifetimes), ...otherRings], store),
        },
        GrantStore,
        ...EXPORTED_PROVIDERS,
      ],
      exports: [KeyRing, KeyRingRecorder, TokenIssuer, RevocationPublisher, ...EXPORTED_PROVIDERS],
    };
  }
}

function tokenRing(keys: KeyRing, { code, accessToken, refreshToken, clockSkew }: Lifetimes): RecordedRing {
  return {
    ring: 'token',
    ids: keys.keys.map(({ id }) => id),
    lifetimeS: Math.max(code, accessToken, refreshToken) + clockSkew,
  };
}
