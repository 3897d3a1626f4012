import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { CurrentToken, IntrospectionModule, TokenGuard, type TokenInfo } from '#introspection/index.js';

// Service of another team. Only the three marked lines protect its API.

@Controller('v2/bookings')
@UseGuards(TokenGuard) // 2: admits requests with a valid access token
class BookingsController {
  @Get()
  list(@CurrentToken() token: TokenInfo) /* 3: user, client and scopes of the token */ {
    return { bookingsOf: token.userId, askedBy: token.clientId, scopes: token.scopes };
  }
}

export function exampleService(natsUrl: string) {
  @Module({
    imports: [IntrospectionModule.forRoot({ natsUrl })], // 1: the module
    controllers: [BookingsController],
  })
  class ExampleService {}
  return ExampleService;
}
