import { type DynamicModule, Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { NatsModule } from '#messaging/nats.module.js';
import { BearerStrategy } from './bearer.strategy.js';
import { INVALIDATIONS } from '#messaging/contract.js';
import { DpopAuthenticator } from './dpop-authenticator.js';
import {
  checkOptions,
  INTROSPECTION_OPTIONS,
  type IntrospectionAsyncOptions,
  type IntrospectionOptions,
} from './introspection.options.js';
import { Introspector } from './introspector.js';
import { Refusals } from './refusals.js';
import { TokenGuard } from './token.guard.js';

@Module({})
class OptionsModule {}

/**
 * Protects an API. Import `IntrospectionModule.forRoot({ natsUrl })` once, because the module is global. Put
 * `@UseGuards(TokenGuard)` on a controller or handler, and inject the token with `@CurrentToken()`.
 */
@Module({})
export class IntrospectionModule {
  /** @throws TypeError that lists every invalid option */
  static forRoot(options: IntrospectionOptions): DynamicModule {
    checkOptions(options);
    return IntrospectionModule.forRootAsync({ useFactory: () => options });
  }

  /** `inject` lists the arguments of the factory. `imports` lists the modules that provide these arguments. */
  static forRootAsync({ imports = [], inject = [], useFactory }: IntrospectionAsyncOptions): DynamicModule {
    const options: DynamicModule = {
      module: OptionsModule,
      imports,
      providers: [
        {
          provide: INTROSPECTION_OPTIONS,
          inject,
          useFactory: async (...dependencies: unknown[]) => checkOptions(await useFactory(...dependencies)),
        },
      ],
      exports: [INTROSPECTION_OPTIONS],
    };
    const nats = NatsModule.forRootAsync({
      imports: [options],
      inject: [INTROSPECTION_OPTIONS],
      useFactory: ({ natsUrl, name = 'api', timeoutMs }: IntrospectionOptions) => ({
        natsUrl,
        name,
        timeoutMs,
        invalidations: INVALIDATIONS,
      }),
    });
    return {
      module: IntrospectionModule,
      global: true,
      imports: [PassportModule, options, nats],
      providers: [Introspector, BearerStrategy, DpopAuthenticator, Refusals, TokenGuard],
      exports: [NatsModule, Introspector, DpopAuthenticator, Refusals, TokenGuard],
    };
  }
}
