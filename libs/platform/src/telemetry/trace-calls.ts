import type { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import {
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { type Call, type Carrier, INCOMING, OUTGOING } from './calls.js';
import { listen } from './listen.js';

/**
 * A span for each call that belongs to a request; heartbeats and probes belong to none. It says what is called and
 * never with what: Redis keys, parameters and payloads stay out.
 *
 * @returns ends it
 */
export function traceCalls(tracer: Tracer): () => void {
  const ends = OUTGOING.map((channel) =>
    listen(channel, (call) => {
      if (!trace.getSpan(context.active())) return () => undefined;
      const span = tracer.startSpan(nameOf(call), { kind: SpanKind.CLIENT, attributes: attributesOf(call) });
      if (call.carrier) propagation.inject(trace.setSpan(context.active(), span), call.carrier, setter);
      return (failed) => finish(span, failed);
    }),
  );
  return () => ends.forEach((end) => end());
}

/**
 * A span for each request over NATS that is answered here, under the span of who asks: their message says which.
 *
 * @param storage where the answer's own calls find it
 */
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

/** After OpenTelemetry's conventions for databases and messaging. */
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

/** Errors may quote what they failed on: only that there was one is told. */
function finish(span: Span, failed: boolean): void {
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
