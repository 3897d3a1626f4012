import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Reports requests, for example to the log, the metrics or the audit trail. Must not throw. */
export interface RequestObserver {
  /** Called after the response was sent. If the client had disconnected, `onAborted` was called first. */
  onAnswered(request: FastifyRequest, reply: FastifyReply, isAborted: boolean): void;
  /** Called if the client disconnected before the response was sent. The handler may still run. */
  onAborted?(request: FastifyRequest): void;
  /** Called instead of `onAnswered` if the handler of an aborted request has finished and no response can be sent. */
  onUndelivered?(request: FastifyRequest, reply: FastifyReply): void;
}

export class RequestObservers {
  private readonly observers: RequestObserver[] = [];
  private readonly aborted = new WeakSet<IncomingMessage>();

  add(...observers: readonly RequestObserver[]): void {
    this.observers.push(...observers);
  }

  observe(fastify: Pick<FastifyInstance, 'addHook'>): void {
    fastify.addHook('onResponse', (request, reply, done) => {
      const isAborted = this.aborted.has(request.raw);
      for (const observer of this.observers) observer.onAnswered(request, reply, isAborted);
      done();
    });
    fastify.addHook('onRequestAbort', (request, done) => {
      this.aborted.add(request.raw);
      for (const observer of this.observers) observer.onAborted?.(request);
      done();
    });
    // Fastify does not call onResponse if the response cannot be sent.
    fastify.addHook('onSend', (request, reply, payload, done) => {
      if (reply.raw.destroyed && this.aborted.has(request.raw))
        for (const observer of this.observers) observer.onUndelivered?.(request, reply);
      done(null, payload);
    });
  }
}
