export const FASTIFY_MAIN = `
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from './dist/app.module.js';

const app = await NestFactory.create(AppModule, new FastifyAdapter());
app.enableShutdownHooks();
await app.listen(process.env.PORT, '127.0.0.1');
`;

/** Tests the bookings API without NATS, as in docs/introspection.md. Prints the response of the handler. */
export const WITHOUT_NATS = `
import { Test } from '@nestjs/testing';
import { TokenGuard } from '@scheduling-oauth/introspection';
import { AppModule } from './dist/app.module.js';

const canActivate = (context) => {
  context.switchToHttp().getRequest().token = { userId: 7, clientId: 'sc_a', scopes: ['bookings:read'] };
  return true;
};
const testing = Test.createTestingModule({ imports: [AppModule] }).overrideGuard(TokenGuard).useValue({ canActivate });
const app = (await testing.compile()).createNestApplication({ logger: false });
await app.listen(0, '127.0.0.1');
console.log(await (await fetch(\`\${await app.getUrl()}/bookings\`)).text());
await app.close();
`;

/** CommonJS project on the oldest supported NestJS, with options from a provider. */
export const COMMONJS: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    name: 'commonjs',
    private: true,
    dependencies: {
      '@nestjs/common': '11.0.0',
      '@nestjs/core': '11.0.0',
      '@nestjs/platform-express': '11.0.0',
      'reflect-metadata': '^0.2.2',
      rxjs: '^7.8.2',
    },
    devDependencies: { '@types/node': '^20.19.0', typescript: '^7.0.2' },
  }),
  'src/main.ts': `
import { Controller, Get, Injectable, Module, Post, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CurrentToken, IntrospectionModule, Introspector, RequireScope, TokenGuard, type TokenInfo } from '@scheduling-oauth/introspection';

@Injectable()
class Settings {
  readonly natsUrl = process.env['NATS_URL'] ?? '';
  readonly apiUrl = process.env['API_URL'];
}

@Module({ providers: [Settings], exports: [Settings] })
class SettingsModule {}

@Controller('bookings')
@UseGuards(TokenGuard)
class BookingsController {
  @Get()
  @RequireScope('bookings:read')
  list(@CurrentToken() { userId, clientId }: TokenInfo) {
    return [{ userId, by: clientId }];
  }

  @Post()
  @RequireScope('bookings:write')
  add() {
    return {};
  }
}

@Controller('readyz')
class ReadinessController {
  constructor(private readonly introspector: Introspector) {}

  @Get()
  async ready() {
    await this.introspector.ping();
    return {};
  }
}

@Module({
  imports: [
    IntrospectionModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: async ({ natsUrl, apiUrl }: Settings) => ({ natsUrl, resourceUrl: apiUrl }),
    }),
  ],
  controllers: [BookingsController, ReadinessController],
})
class AppModule {}

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks();
  await app.listen(process.env['PORT'] ?? 3005, '127.0.0.1');
}

void bootstrap();
`,
};

export const TYPES = `
import { Module, UseGuards } from '@nestjs/common';
import {
  CurrentToken, IntrospectionModule, Introspector, RequireScope, TokenGuard,
  type IntrospectionAsyncOptions, type IntrospectionOptions, type TokenInfo,
} from '@scheduling-oauth/introspection';

@UseGuards(TokenGuard)
export class Controller {
  constructor(readonly introspector: Introspector) {}

  @RequireScope('a', 'b')
  handler(@CurrentToken() token: TokenInfo): readonly string[] {
    return token.scopes;
  }
}

export const options: IntrospectionOptions = { natsUrl: 'nats://localhost', timeoutMs: 100 };
export const asynchronous: IntrospectionAsyncOptions = { useFactory: async () => options };

/** Detects unresolved types, which become any and are assignable to everything. */
type IsAny<T> = 0 extends 1 & T ? true : false;
export const isAny: [IsAny<TokenInfo>, IsAny<typeof IntrospectionModule>, IsAny<typeof TokenGuard>, IsAny<Introspector>] = [
  false, false, false, false,
];

@Module({ imports: [IntrospectionModule.forRoot(options), IntrospectionModule.forRootAsync(asynchronous)] })
export class AppModule {}
`;
