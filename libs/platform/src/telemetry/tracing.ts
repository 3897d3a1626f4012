import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import {
  type Context,
  context,
  type ContextManager,
  propagation,
  ROOT_CONTEXT,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { FastifyInstance } from 'fastify';
import { logExportErrors, resourceOf } from './export-errors.js';
import { traceAnswers, traceCalls, traceRequests } from './spans.js';

/** Limits the time for which an unavailable collector delays the shutdown. */
const FLUSH_TIMEOUT_MS = 2_000;

/** Traces requests and calls. Exports spans by OTLP over HTTP, as OpenTelemetry's standard variables configure. */
export class Tracing {
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;
  private readonly unsubscribe: (() => void)[];

  constructor(service: string) {
    const logger = new Logger('Tracing');
    logExportErrors((text) => logger.warn(text));
    this.provider = new BasicTracerProvider({
      resource: resourceOf(service),
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    });
    const active = new AsyncContextManager();
    context.setGlobalContextManager(active);
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    this.tracer = this.provider.getTracer('scheduling-oauth');
    this.unsubscribe = [traceCalls(this.tracer), traceAnswers(this.tracer, active.storage)];
  }

  traceRequests(fastify: Pick<FastifyInstance, 'addHook'>): void {
    traceRequests(fastify, this.tracer);
  }

  async end(): Promise<void> {
    for (const unsubscribe of this.unsubscribe) unsubscribe();
    const sent = this.provider.shutdown().catch(() => undefined);
    await Promise.race([sent, sleep(FLUSH_TIMEOUT_MS, undefined, { ref: false })]);
  }
}

/** Exposes the storage, unlike OpenTelemetry's manager, to subscribers of node:diagnostics_channel. */
class AsyncContextManager implements ContextManager {
  readonly storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    run: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.storage.run(context, () => run.apply(thisArg, args));
  }

  bind<T>(context: Context, target: T): T {
    if (typeof target !== 'function') return target;
    return ((...args: unknown[]) => this.storage.run(context, () => target(...args) as unknown)) as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.storage.disable();
    return this;
  }
}
