import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { CurrentToken } from '#introspection/current-token.decorator.js';
import { IntrospectionModule } from '#introspection/introspection.module.js';
import type { TokenInfo } from '#introspection/introspector.js';
import { TokenGuard } from '#introspection/token.guard.js';

// What another team writes to protect an API of theirs: the three lines that are marked.

@Controller('v2/bookings')
@UseGuards(TokenGuard) // 2: the guard lets requests pass that have a valid access token
export class BookingsController {
  @Get()
  list(@CurrentToken() token: TokenInfo) /* 3: who it is, and how far he may go */ {
    return { bookingsOf: token.userId, askedBy: token.clientId, scopes: token.scopes };
  }
}

/** A service of its own, on whatever platform and with whatever filters it has. */
export function exampleService(natsUrl: string) {
  @Module({
    imports: [IntrospectionModule.forRoot({ natsUrl, name: 'bookings' })], // 1: the module
    controllers: [BookingsController],
  })
  class ExampleService {}
  return ExampleService;
}
