import type { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import {
  type Context,
  context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import { addLogContext, referenceOf } from '../logging/request-log.js';
import { type Call, type Carrier, INCOMING, onCalls, OUTGOING } from './calls.js';
import { errorOf, routeOf } from './metrics.js';

/**
 * Creates a span per request, named by its route template, because paths and queries may contain codes. A caller's
 * `traceparent` is linked rather than continued, so that callers cannot control sampling and trace id.
 */
export function traceRequests(fastify: Pick<FastifyInstance, 'addHook'>, tracer: Tracer): void {
  const spans = new WeakMap<IncomingMessage, Span>();
  fastify.addHook('onRequest', (request, _reply, done) => {
    const route = routeOf(request);
    const method = request.method;
    const link = linkTo(trace.getSpanContext(propagation.extract(ROOT_CONTEXT, request.headers)));
    const span = tracer.startSpan(
      `${method} ${route}`,
      {
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': method,
          'http.route': route,
          reference: referenceOf(request.raw),
        },
        links: link ? [link] : [],
      },
      ROOT_CONTEXT,
    );
    spans.set(request.raw, span);
    addLogContext(request.raw, { trace_id: span.spanContext().traceId });
    context.with(trace.setSpan(ROOT_CONTEXT, span), done);
  });
  // Restores the request's context, because the body parser calls back in the connection's context.
  fastify.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request.raw);
    context.with(span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT, done);
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request.raw);
    const error = errorOf(request, reply);
    span?.setAttribute('http.response.status_code', reply.statusCode);
    if (error !== undefined) span?.setAttribute('error.type', error);
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    done();
  });
}

/** Links the caller's span by its ids. Never exports `tracestate`, which may contain anything. */
function linkTo(caller: SpanContext | undefined): Link | null {
  if (!caller) return null;
  const { traceId, spanId, traceFlags, isRemote } = caller;
  return { context: { traceId, spanId, traceFlags, ...(isRemote && { isRemote }) } };
}

/**
 * Creates a span for each call within a request, but not for heartbeats and probes.
 * @returns a function that stops the tracing
 */
export function traceCalls(tracer: Tracer): () => void {
  const ends = OUTGOING.map((channel) =>
    onCalls(channel, (call) => {
      if (!trace.getSpan(context.active())) return () => undefined;
      const span = tracer.startSpan(nameOf(call), { kind: SpanKind.CLIENT, attributes: attributesOf(call) });
      if (call.carrier) propagation.inject(trace.setSpan(context.active(), span), call.carrier, setter);
      return (failed) => finish(span, failed);
    }),
  );
  return () => ends.forEach((end) => end());
}

/** Creates a span for each incoming NATS request, as a child of the caller's span; `storage` propagates it. */
export function traceAnswers(tracer: Tracer, storage: AsyncLocalStorage<Context>): () => void {
  const channel = tracingChannel<Context, object>(INCOMING.name);
  const spans = new WeakMap<object, Span>();
  channel.start.bindStore(storage, (message) => {
    const call = INCOMING.read(message as never);
    const parent = call.carrier
      ? propagation.extract(context.active(), call.carrier, getter)
      : context.active();
    const options = { kind: SpanKind.SERVER, attributes: attributesOf(call) };
    const span = tracer.startSpan(nameOf(call), options, parent);
    spans.set(message, span);
    return trace.setSpan(parent, span);
  });
  const finished = (message: object) => {
    const span = spans.get(message);
    if (span) finish(span, 'error' in message);
  };
  channel.asyncStart.subscribe(finished as never);
  return () => {
    channel.start.unbindStore(storage);
    channel.asyncStart.unsubscribe(finished as never);
  };
}

const setter = { set: (carrier: Carrier, name: string, value: string) => carrier.set(name, value) };
const getter = {
  get: (carrier: Carrier, name: string) => carrier.get?.(name) || undefined,
  keys: () => ['traceparent', 'tracestate'],
};

function nameOf({ operation, target }: Call): string {
  return target === undefined ? operation : `${operation} ${target}`;
}

function attributesOf({ system, operation, target }: Call): Record<string, string> {
  if (system === 'nats')
    return {
      'messaging.system': system,
      'messaging.operation.name': operation,
      'messaging.destination.name': target ?? '',
    };
  return {
    'db.system.name': system,
    'db.operation.name': operation,
    ...(target !== undefined && { 'db.collection.name': target }),
  };
}

/** Does not record the error message, which may quote data. */
function finish(span: Span, failed: boolean): void {
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
