import { finished } from 'node:stream/promises';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { RefusedRequestError } from '#platform/http/refused-request.js';
import type { ApiRequest } from '../api/api.guard.js';
import type { OperatorRequest } from '../session/operator.js';

const MAX_RUNNING = 4;

/** Counts running reports by caller. Shared, because Nest makes an interceptor for each module that uses it. */
@Injectable()
export class RunningReports {
  private readonly running = new Map<string, number>();

  count(caller: string, change: 1 | -1): number {
    const count = (this.running.get(caller) ?? 0) + change;
    if (count === 0) this.running.delete(caller);
    else this.running.set(caller, count);
    return count;
  }
}

/** A report uses much memory and a NATS connection, and continues after its client has disconnected. */
@Injectable()
export class ConcurrencyLimit implements NestInterceptor {
  constructor(private readonly reports: RunningReports) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const http = context.switchToHttp();
    const { operator, token } = http.getRequest<OperatorRequest & Partial<ApiRequest>>();
    const caller = operator ? `operator ${operator.identity.subject}` : `client ${token?.clientId}`;
    if (this.reports.count(caller, 1) > MAX_RUNNING) {
      this.reports.count(caller, -1);
      throw new RefusedRequestError(429, `${MAX_RUNNING} reports of yours are running: retry later`, {
        headers: { 'Retry-After': '5' },
      });
    }
    const handled = lastValueFrom(next.handle());
    // A download is running until it is sent. Also settles if the client has disconnected already.
    const sent = finished(http.getResponse<FastifyReply>().raw);
    void Promise.allSettled([handled, sent]).then(() => this.reports.count(caller, -1));
    return from(handled);
  }
}
