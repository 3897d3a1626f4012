import type { IncomingMessage } from 'node:http';
import {
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
import { addLogContext, referenceOf } from '../logging/log-context.js';
import { errorOf } from './error-of.js';
import { routeOf } from './measure-requests.js';

/**
 * A span for each request. Its route is the template: paths and queries carry codes and what people mistype. A caller's
 * `traceparent` is linked and not continued, so that nobody outside decides what is recorded or under which trace.
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
  // What reads a body calls back from the connection, which belongs to no request.
  fastify.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request.raw);
    context.with(span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT, done);
  });
  fastify.addHook('onResponse', async (request, reply) => {
    const span = spans.get(request.raw);
    const error = errorOf(request, reply);
    span?.setAttribute('http.response.status_code', reply.statusCode);
    if (error !== undefined) span?.setAttribute('error.type', error);
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
  });
}

/** The caller's span by its ids. Its `tracestate` is whatever anybody outside likes to write: it goes to no collector. */
function linkTo(caller: SpanContext | undefined): Link | null {
  if (!caller) return null;
  const { traceId, spanId, traceFlags, isRemote } = caller;
  return { context: { traceId, spanId, traceFlags, ...(isRemote && { isRemote }) } };
}
