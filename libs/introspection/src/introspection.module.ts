import { type DynamicModule, Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { BearerStrategy } from './bearer.strategy.js';
import { Challenges } from './challenges.js';
import { ConnectionModule } from '#platform/nats/nats.module.js';
import { DpopAuthenticator } from './dpop/dpop-authenticator.js';
import { INTROSPECTION_OPTIONS, type IntrospectionOptions } from './introspection.options.js';
import { Introspector } from './introspector.js';
import { Refusals } from './refusals.js';
import { TokenGuard } from './token.guard.js';

/** Protects an API: import `IntrospectionModule.forRoot(…)`, put `@UseGuards(TokenGuard)` on a handler, take `@CurrentToken()`. */
@Module({})
export class IntrospectionModule {
  static forRoot(options: IntrospectionOptions): DynamicModule {
    return {
      module: IntrospectionModule,
      imports: [PassportModule, ConnectionModule.forRoot(options)],
      providers: [
        { provide: INTROSPECTION_OPTIONS, useValue: options },
        Introspector,
        BearerStrategy,
        Challenges,
        Refusals,
        DpopAuthenticator,
        TokenGuard,
      ],
      exports: [
        ConnectionModule,
        INTROSPECTION_OPTIONS,
        Introspector,
        TokenGuard,
        Challenges,
        Challenges,
        Refusals,
        DpopAuthenticator,
      ],
    };
  }
}
