import { type DynamicModule, Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { NatsModule } from '#platform/nats/nats.module.js';
import { BearerStrategy } from './bearer.strategy.js';
import { INVALIDATIONS } from './contract.js';
import { DpopAuthenticator } from './dpop-authenticator.js';
import { INTROSPECTION_OPTIONS, type IntrospectionOptions } from './introspection.options.js';
import { Introspector } from './introspector.js';
import { Refusals } from './refusals.js';
import { TokenGuard } from './token.guard.js';

/**
 * Protects an API: import `IntrospectionModule.forRoot({ natsUrl })`, put `@UseGuards(TokenGuard)` on a controller or
 * handler, and take `@CurrentToken()`. Global, so that the guard works in every module.
 */
@Module({})
export class IntrospectionModule {
  static forRoot(options: IntrospectionOptions): DynamicModule {
    const { natsUrl, name = 'api', timeoutMs } = options;
    return {
      module: IntrospectionModule,
      global: true,
      imports: [
        PassportModule,
        NatsModule.forRoot({ natsUrl, name, timeoutMs, invalidations: INVALIDATIONS }),
      ],
      providers: [
        { provide: INTROSPECTION_OPTIONS, useValue: options },
        Introspector,
        BearerStrategy,
        DpopAuthenticator,
        Refusals,
        TokenGuard,
      ],
      exports: [NatsModule, Introspector, DpopAuthenticator, Refusals, TokenGuard],
    };
  }
}
