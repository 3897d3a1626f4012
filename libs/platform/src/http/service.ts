import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import helmet from '@fastify/helmet';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger } from 'nestjs-pino';
import { collectDefaultMetrics } from 'prom-client';
import type { ServiceConfiguration } from '../configuration/service.configuration.js';
import { serveHealth } from '../health/health-server.js';
import { Readiness } from '../health/readiness.js';
import { quietStart } from '../logging/quiet-start.js';
import { measureCalls } from '../telemetry/measure-calls.js';
import { measureDependencies } from '../telemetry/measure-dependencies.js';
import { measureRequests } from '../telemetry/measure-requests.js';
import { Metrics } from '../telemetry/metrics.js';
import { startTracing } from '../telemetry/start-tracing.js';
import { trustedProxies } from './trusted-proxies.js';
import { acceptBodies } from './accept-bodies.js';
import { answerUnreadable } from './answer-unreadable.js';
import { drain } from './drain.js';
import { type Ground, GroundModule } from './ground.module.js';
import { linger } from './linger.js';
import { requireHost } from './require-host.js';
import { refuseAfterStall } from './stall.js';

const BODY_LIMIT = 64 * 1024;
/** In which time a request has arrived, head and body. */
const REQUEST_TIMEOUT_MS = 10_000;

/** What an app adds to the ground all share: plugins, filters, transports. */
export type Configure = (app: NestFastifyApplication) => Promise<void> | void;

/**
 * Makes an app with what every one of ours has: bounded bodies and headers, protective headers, nothing cached,
 * JSON logs, an end that waits for open requests. It does not listen yet.
 */
export async function createService(
  module: DynamicModule,
  {
    publicUrl,
    ...proxies
  }: Pick<ServiceConfiguration, 'TRUSTED_PROXIES' | 'publicUrl'> &
    Partial<Pick<ServiceConfiguration, 'TRUSTED_PROXY_HOPS'>>,
  configure?: Configure,
  ground: Ground = { readiness: new Readiness(), metrics: new Metrics() },
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    // Made here and never taken from the request: it goes to the client as error_reference.
    genReqId: () => randomBytes(9).toString('base64url'),
    bodyLimit: BODY_LIMIT,
    trustProxy: trustedProxies(proxies),
    forceCloseConnections: 'idle',
    // What still arrives while the app closes is answered like everything else, and its connection ends with it.
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Node allows the longer of the two for a body, and looks every 30 s.
    // `requireHost` refuses requests without Host: Node's own response has no body and is not logged.
    http: {
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false,
    },
    rewriteUrl,
    routerOptions: { querystringParser: () => ({}) },
  });
  const app = await NestFactory.create<NestFastifyApplication>(GroundModule.under(module, ground), adapter, {
    bodyParser: false,
    bufferLogs: true,
    abortOnError: false,
  });
  app.useLogger(quietStart(app.get(Logger)));
  const fastify = adapter.getInstance();
  ground.tracing?.follow(fastify);
  measureRequests(fastify, ground.metrics);
  acceptBodies(fastify);
  answerUnreadable(fastify);
  // RFC 9110 10.1.1: an unknown expectation MAY be answered 417. Node would, without a body and our headers.
  fastify.server.on('checkExpectation', (...exchange) => fastify.server.emit('request', ...exchange));
  // Before the wait for the last requests: who asks meanwhile is told.
  fastify.addHook('preClose', async () => ground.readiness.stop());
  drain(fastify, REQUEST_TIMEOUT_MS);
  linger(fastify);
  fastify.addHook('onSend', async (_request, reply) => void reply.header('Cache-Control', 'no-store'));
  await app.register(helmet, {
    contentSecurityPolicy: {
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      useDefaults: false,
    },
    referrerPolicy: { policy: 'no-referrer' },
    // RFC 6797 7.2: "MUST NOT include the STS header field in HTTP responses conveyed over non-secure transport"
    hsts: publicUrl.startsWith('https:'),
  });
  // After helmet, so that its refusals have the headers of every response; before CORS, which answers preflights.
  requireHost(fastify);
  await configure?.(app);
  // After what puts headers on every answer.
  refuseAfterStall(fastify);
  return app;
}

/**
 * The path and query of a request's target, which may be in absolute form (RFC 9112 3.2.2). The router answers what is no path, or
 * one that it cannot decode, in words of its own, which quote it. No path of ours is like that: 404.
 */
function rewriteUrl({ url = '/' }: { readonly url?: string | undefined }): string {
  const target = url.replace(/^https?:\/\/[^/?#%]*/i, '').replace(/^(?=\?|$)/, '/');
  try {
    decodeURI(target.split('?', 1)[0] ?? '');
  } catch {
    return NOWHERE;
  }
  return target.startsWith('/') ? target : NOWHERE;
}

/** A path that nobody has. */
const NOWHERE = '/%25';

/** A process: what it is called, what it needs, and the app it runs. */
export interface Service {
  readonly name: string;
  /** The dependencies without which it cannot serve: missing until they answer. */
  readonly needs: readonly string[];
  readonly module: DynamicModule;
  readonly configuration: ServiceConfiguration;
  readonly configure?: Configure;
}

/** Runs a service until SIGTERM or SIGINT, with its health and metrics on the internal port. */
export async function runService(service: Service): Promise<NestFastifyApplication> {
  const { name, needs, module, configuration, configure } = service;
  const { HOST, PORT, INTERNAL_PORT } = configuration;
  const tracing = await startTracing(name, process.env);
  const ground = { readiness: new Readiness(needs), metrics: new Metrics(), ...(tracing && { tracing }) };
  // Until the app handles signals itself: a container's first process ignores those that nobody handles.
  const leave = (): void => process.exit(0);
  process.on('SIGTERM', leave).on('SIGINT', leave);
  const { registry } = ground.metrics;
  registry.setDefaultLabels({ service: name });
  collectDefaultMetrics({ register: registry });
  measureDependencies(ground.metrics, ground.readiness);
  measureCalls(ground.metrics);
  // First of all: a process that waits for its dependencies is alive, and says what it waits for.
  const health = await serveHealth(ground.readiness, registry, HOST, INTERNAL_PORT);
  const app = await createService(module, configuration, configure, ground);
  // As a container's first process it would not end by a signal that it sends itself.
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  process.off('SIGTERM', leave).off('SIGINT', leave);
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onClose', async () => {
      health.close();
      await tracing?.end();
    });
  await app.listen(PORT, HOST);
  await app.startAllMicroservices();
  ground.readiness.start();
  app
    .get(Logger)
    .log(`listens on ${HOST}:${PORT}, health and metrics on ${HOST}:${INTERNAL_PORT}`, 'Service');
  return app;
}
