import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { context, propagation, type Tracer } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { FastifyInstance } from 'fastify';
import { ActiveContext } from './active-context.js';
import { tellTroubles } from './tell-troubles.js';
import { traceAnswers, traceCalls } from './trace-calls.js';
import { traceRequests } from './trace-requests.js';

/** A collector that does not answer must not hold up the end of a process. */
const FLUSH_WITHIN_MS = 2_000;

/**
 * Follows requests over HTTP, NATS, Redis and PostgreSQL, and sends what it saw by OTLP over HTTP. Where to, how much
 * and how often is OpenTelemetry's to read from its variables.
 */
export class Tracing {
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;
  private readonly ends: (() => void)[];

  constructor(service: string) {
    const logger = new Logger('Tracing');
    tellTroubles((text) => logger.warn(text));
    this.provider = new BasicTracerProvider({
      resource: resourceFromAttributes({
        'service.name': service,
        'service.namespace': 'scheduling-oauth',
      }).merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    });
    const active = new ActiveContext();
    context.setGlobalContextManager(active);
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    this.tracer = this.provider.getTracer('scheduling-oauth');
    this.ends = [traceCalls(this.tracer), traceAnswers(this.tracer, active.storage)];
  }

  /** Makes each request to the app the beginning of a trace. */
  follow(fastify: Pick<FastifyInstance, 'addHook'>): void {
    traceRequests(fastify, this.tracer);
  }

  /** Sends what is left. */
  async end(): Promise<void> {
    for (const end of this.ends) end();
    const sent = this.provider.shutdown().catch(() => undefined);
    await Promise.race([sent, sleep(FLUSH_WITHIN_MS, undefined, { ref: false })]);
  }
}
