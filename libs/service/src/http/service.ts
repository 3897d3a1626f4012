import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import helmet from '@fastify/helmet';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger } from 'nestjs-pino';
import type { Listening } from '../configuration/listening.js';
import { serveHealth } from '../health/health-server.js';
import { Readiness } from '../health/readiness.js';
import { acceptBodies } from './accept-bodies.js';

const BODY_LIMIT = 64 * 1024;

/** What an app adds to the ground all share: plugins, filters, transports. */
export type Configure = (app: NestFastifyApplication) => Promise<void> | void;

/**
 * Makes an app with what every one of ours has: bounded bodies and headers, protective headers, nothing cached,
 * JSON logs, an end that waits for open requests. It does not listen yet.
 */
export async function createService(
  module: DynamicModule,
  { TRUSTED_PROXIES }: Pick<Listening, 'TRUSTED_PROXIES'>,
  configure?: Configure,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    // Made here and never taken from the request: it goes to the client as error_reference.
    genReqId: () => randomBytes(9).toString('base64url'),
    bodyLimit: BODY_LIMIT,
    trustProxy: TRUSTED_PROXIES === '' ? false : TRUSTED_PROXIES,
    forceCloseConnections: 'idle',
    requestTimeout: 10_000,
    rewriteUrl,
    routerOptions: { querystringParser: () => ({}) },
  });
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    bufferLogs: true,
    abortOnError: false,
  });
  app.useLogger(app.get(Logger));
  const fastify = adapter.getInstance();
  acceptBodies(fastify);
  fastify.addHook('onSend', async (_request, reply) => void reply.header('Cache-Control', 'no-store'));
  await app.register(helmet, {
    contentSecurityPolicy: {
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      useDefaults: false,
    },
    referrerPolicy: { policy: 'no-referrer' },
  });
  await configure?.(app);
  return app;
}

/** The router answers a path that it cannot decode in words of its own, which quote it. No path of ours is like that: 404. */
function rewriteUrl({ url = '/' }: { readonly url?: string | undefined }): string {
  try {
    decodeURI(url.split('?', 1)[0] ?? '');
    return url;
  } catch {
    return '/%25';
  }
}

/** Runs a service until SIGTERM or SIGINT, with its health on the internal port. */
export async function runService(
  module: DynamicModule,
  listening: Listening,
  configure?: Configure,
): Promise<NestFastifyApplication> {
  let readiness: Readiness | undefined;
  // First of all: a process that waits for its dependencies is alive, and says that it is not ready.
  const health = await serveHealth(() => readiness, listening.HOST, listening.INTERNAL_PORT);
  const app = await createService(module, listening, configure);
  app.enableShutdownHooks();
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onClose', async () => void health.close());
  await app.listen(listening.PORT, listening.HOST);
  await app.startAllMicroservices();
  readiness = app.get(Readiness);
  return app;
}
