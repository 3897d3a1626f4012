import 'reflect-metadata';
import { maxHeaderSize } from 'node:http';
import { type DynamicModule, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics } from 'prom-client';
import { ConfigurationError } from '../configuration/load-configuration.js';
import type { ServiceConfiguration } from '../configuration/service.configuration.js';
import { Readiness, serveHealth } from '../health/readiness.js';
import { type ProxySettings, trustedProxies } from '../http/client-address.js';
import {
  answerMalformedRequests,
  type MalformedRequestResponse,
  type MalformedRequestStatus,
} from '../http/malformed-request.js';
import { EventLoopDelay, type OverloadBody, type OverloadOptions, refuseOverload } from '../http/overload.js';
import {
  addRequestHooks,
  closeConnectionsGracefully,
  limitPipelining,
  RequestObservers,
} from '../http/request-hooks.js';
import { addBodyParsers, type BodyParsers, requestTarget, unparsedQuery } from '../http/request-parsing.js';
import { type ResponseHeaders, responseHeaders } from '../http/response-headers.js';
import { createLogger, NestLogger } from '../logging/logger.js';
import { assignReference, requestLog } from '../logging/request-log.js';
import { PART_TIMEOUT_MS, type Settings, StatusReport } from '../status/status-report.js';
import { measureCalls } from '../telemetry/calls.js';
import { measureDependencies, Metrics, requestMetrics } from '../telemetry/metrics.js';
import { startTracing } from '../telemetry/start-telemetry.js';
import type { Tracing } from '../telemetry/tracing.js';
import { type Instruments, PlatformModule } from './platform.module.js';

export interface Service<Configuration = ServiceConfiguration> {
  readonly name: string;
  readonly module: DynamicModule;
  readonly configuration: Configuration;
  /** Settings that must be equal in every app. The status report contains them, so they must not be secret. */
  readonly sharedSettings?: Settings;
  readonly bodyParsers: BodyParsers;
  readonly headers?: ResponseHeaders;
  readonly crossOriginPaths?: readonly string[];
  /** Response to a request that Node cannot read; by default JSON as in RFC 6749 5.2. */
  readonly malformedRequest?: (status: MalformedRequestStatus) => MalformedRequestResponse;
  /** JSON body of the 503 under overload; by default the app's error filter renders the response. */
  readonly overloadBody?: OverloadBody;
  readonly configure?: (app: NestFastifyApplication) => Promise<void> | void;
}

type HttpConfiguration = ProxySettings & { readonly LOG_LEVEL: string; readonly publicUrl: string };

const BODY_LIMIT = 64 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
const SHUTDOWN_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'];

@Module({})
class RootModule {}

/**
 * Runs a service until SIGTERM or SIGINT, with its health and metrics on the internal port.
 * @param requiredDependencies dependencies that /readyz lists as missing until they respond
 * @param optionalDependencies dependencies that /readyz never lists
 */
export async function runService(
  service: Service,
  requiredDependencies: readonly string[],
  optionalDependencies: readonly string[] = [],
): Promise<NestFastifyApplication> {
  const { name, configuration } = service;
  const { HOST, PORT, INTERNAL_PORT } = configuration;
  const tracing = await startTracing(name, process.env);
  const readiness = new Readiness(requiredDependencies, optionalDependencies);
  const metrics = new Metrics();
  // PID 1 of a container ignores signals without a handler, and Nest adds its handlers only after the app is created.
  const exit = (): void => process.exit(0);
  process.on('SIGTERM', exit).on('SIGINT', exit);
  // Sent before SIGTERM by the manifests of Kubernetes. The process continues to serve requests until SIGTERM.
  process.on('SIGUSR2', () => readiness.stop());
  metrics.registry.setDefaultLabels({ service: name });
  collectDefaultMetrics({ register: metrics.registry });
  measureDependencies(metrics, readiness);
  measureCalls(metrics, new Logger('Dependencies'));
  // Starts before the app, so that /healthz and /readyz respond while the process waits for its dependencies.
  const health = await serveHealth(readiness, metrics.registry, HOST, INTERNAL_PORT);
  // Not part of createService, because the apps of a test share one event loop.
  const delay = new EventLoopDelay();
  const app = await createService(service, { readiness, metrics, delay, ...(tracing && { tracing }) });
  // PID 1 of a container cannot terminate itself by a signal, which is Nest's default, as is a shutdown on SIGUSR2.
  app.enableShutdownHooks(SHUTDOWN_SIGNALS, { useProcessExit: true });
  process.off('SIGTERM', exit).off('SIGINT', exit);
  fastifyOf(app).addHook('onClose', async () => {
    health.close();
    await tracing?.end();
  });
  await app.listen(PORT, HOST);
  await app.startAllMicroservices();
  readiness.start();
  new Logger('Service').log(`listens on ${HOST}:${PORT}, health and metrics on ${HOST}:${INTERNAL_PORT}`);
  return app;
}

/** Creates an app with the limits, hooks and observers of every service, without listening. */
export async function createService(
  { name, module, configuration, sharedSettings, configure, ...service }: Service<HttpConfiguration>,
  instruments: Instruments & {
    readonly tracing?: Tracing;
    readonly delay?: OverloadOptions['delay'];
  } = {
    readiness: new Readiness(),
    metrics: new Metrics(),
  },
): Promise<NestFastifyApplication> {
  const logger = createLogger(name, configuration.LOG_LEVEL);
  const status = new StatusReport(name, sharedSettings);
  status.register('missing', async () =>
    Object.fromEntries(await instruments.readiness.missingWithin(PART_TIMEOUT_MS - 100)),
  );
  const observers = new RequestObservers();
  observers.add(requestLog(logger), requestMetrics(instruments.metrics));
  const platform = PlatformModule.forRoot({ ...instruments, status, observers });
  const root = { module: RootModule, imports: [platform, module] };
  const app = await NestFactory.create<NestFastifyApplication>(root, fastifyAdapter(configuration), {
    logger: new NestLogger(logger),
    bodyParser: false,
    abortOnError: false,
  });
  const fastify = fastifyOf(app);
  // Must precede addRequestHooks, whose encapsulated scope copies the parsers.
  addBodyParsers(fastify, service.bodyParsers);
  instruments.tracing?.traceRequests(fastify);
  // /readyz reports the shutdown before the app waits for requests in flight.
  fastify.addHook('preClose', async () => instruments.readiness.stop());
  const isClosing = closeConnectionsGracefully(fastify, REQUEST_TIMEOUT_MS);
  const headers = responseHeaders(configuration.publicUrl, service.headers);
  const { crossOriginPaths = [] } = service;
  await addRequestHooks(fastify, { headers, crossOriginPaths, observers, isClosing });
  answerMalformedRequests(fastify, service.malformedRequest);
  // Ignores an unknown expectation: a 417 is optional (RFC 9110 10.1.1), and Node's 417 lacks the service's headers.
  fastify.server.on('checkExpectation', (...exchange) => fastify.server.emit('request', ...exchange));
  const { overloadBody: body } = service;
  const answer = body && { headers, body, isClosing };
  if (instruments.delay)
    refuseOverload(fastify, { ...instruments, delay: instruments.delay, logger, answer });
  // Called last, so that this request listener wraps the other listeners and runs first.
  limitPipelining(fastify, logger);
  await configure?.(app);
  return app;
}

function fastifyAdapter(configuration: HttpConfiguration): FastifyAdapter {
  // Fastify's logger would quote URLs, whose queries contain codes, and create a child logger per request.
  return new FastifyAdapter({
    genReqId: assignReference,
    bodyLimit: BODY_LIMIT,
    trustProxy: trustedProxies(configuration),
    forceCloseConnections: 'idle',
    // Serves requests that arrive while the app closes, with Connection: close.
    return503OnClosing: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      // Node applies the longer of the two timeouts to a body, and checks every 30 s by default.
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      // `requireHost` checks the Host header, because Node's response has no body and is not logged.
      requireHostHeader: false,
    },
    rewriteUrl: requestTarget,
    routerOptions: {
      querystringParser: unparsedQuery,
      // Disables the limit, because Fastify's response to a long parameter would quote the path and lack our headers.
      maxParamLength: maxHeaderSize,
    },
    // Skips Express-style middleware, which the apps do not use and which would run code for each request.
    skipMiddie: true,
  });
}

function fastifyOf(app: NestFastifyApplication): FastifyInstance {
  return app.getHttpAdapter().getInstance();
}

export function main(run: () => Promise<unknown>): void {
  run().catch((error: unknown) => {
    const text =
      error instanceof ConfigurationError
        ? error.message
        : error instanceof Error
          ? error.stack
          : String(error);
    process.stderr.write(`${text}\n`, () => process.exit(1));
  });
}
