import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#local/servers/free-port.js';
import { runCommand } from '#local/servers/run-command.js';
import { lastLines } from '#local/servers/started-service.js';
import { startProgram } from '#test/support/program.js';

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

const PACKAGE = '@scheduling-oauth/introspection';
const INSTALL_WITHIN_MS = 200_000;
const MAX_ATTEMPTS = 10;

/** Environment without the options of Jest, as in a developer's shell. */
const { NODE_OPTIONS: _ofJest, ...ENV } = process.env;

export async function packIntrospection(): Promise<string> {
  const packed = await runCommand('npm', ['run', '-s', 'pack:introspection'], {
    cwd: process.cwd(),
    env: ENV,
  });
  if (packed.code !== 0) throw new Error(`npm run pack:introspection failed:\n${packed.stderr}`);
  const { version } = JSON.parse(await readFile('libs/introspection/package.json', 'utf8')) as {
    version: string;
  };
  return join(process.cwd(), 'dist/packages', `scheduling-oauth-introspection-${version}.tgz`);
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface RunningProject {
  send(path: string, init?: RequestInit): Promise<Answer>;
  stop(): Promise<void>;
}

/** Repeats a request with status 503 as the response asks, because a busy machine may exceed the timeout of tokens. */
export async function patiently(send: () => Promise<Answer>): Promise<Answer> {
  for (let attempts = 1; ; attempts += 1) {
    const answer = await send();
    if (answer.status !== 503 || attempts === MAX_ATTEMPTS) return answer;
    await sleep(1_000 * Number(answer.headers.get('retry-after') ?? 0));
  }
}

export class OutsideProject {
  private constructor(readonly folder: string) {}

  /** Creates a project from files, and installs the package from its tarball with npm. */
  static async from(
    source: string | Readonly<Record<string, string>>,
    tarball: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<OutsideProject> {
    const folder = await mkdtemp(join(tmpdir(), 'outside-'));
    const project = new OutsideProject(folder);
    if (typeof source === 'string')
      await cp(source, folder, { recursive: true, filter: (path) => !/\/(?:node_modules|dist)$/.test(path) });
    else await project.write(source);
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    Object.assign(manifest.dependencies, more, { [PACKAGE]: `file:${tarball}` });
    await project.write({ 'package.json': JSON.stringify(manifest) });
    const options = [
      '--no-audit',
      '--no-fund',
      '--no-package-lock',
      '--prefer-offline',
      '--fetch-retries=1',
      '--loglevel=error',
    ];
    const installed = await runCommand('npm', ['install', ...options], {
      cwd: folder,
      env: ENV,
      timeout: INSTALL_WITHIN_MS,
    });
    if (installed.code !== 0) {
      await project.remove();
      throw new Error(
        `npm install failed: this test needs the npm registry, or all packages in npm's cache\n${lastLines(installed.stderr, 20)}`,
      );
    }
    return project;
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(this.folder, path, '..'), { recursive: true });
      await writeFile(join(this.folder, path), text);
    }
  }

  async compile(...options: string[]): Promise<string> {
    const compiler = join(this.folder, 'node_modules/typescript/bin/tsc');
    const { stdout, stderr, code } = await runCommand(process.execPath, [compiler, ...options], {
      cwd: this.folder,
      env: ENV,
    });
    return code === 0 ? '' : stdout + stderr || `exit code ${code}`;
  }

  async run(...args: string[]): Promise<string> {
    const { stdout, stderr } = await runCommand(process.execPath, args, { cwd: this.folder, env: ENV });
    return stdout + stderr;
  }

  async copiesOf(name: string): Promise<string[]> {
    const paths = await readdir(join(this.folder, 'node_modules'), { recursive: true });
    return paths.filter((path) => path === name || path.endsWith(`node_modules/${name}`));
  }

  async start(args: readonly string[], env: Readonly<Record<string, string>>): Promise<RunningProject> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const service = await startProgram('the service', [process.execPath, ...args], {
      cwd: this.folder,
      env: { ...ENV, PORT: String(port), ...env },
      urls: [`${url}/readyz`],
    });
    const send = async (path: string, init?: RequestInit): Promise<Answer> => {
      const answer = await fetch(url + path, init);
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
      return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
    };
    return { send, stop: () => service.stop() };
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
