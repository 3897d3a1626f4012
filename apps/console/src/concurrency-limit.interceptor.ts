import { finished } from 'node:stream';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { finalize, type Observable } from 'rxjs';
import type { ClientTokenInfo } from '#introspection/index.js';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import type { OperatorRequest } from './operator.js';

const MAX_RUNNING = 4;

/**
 * Counts running reports by caller. All interceptors share this provider, because Nest creates one interceptor per
 * module.
 */
@Injectable()
export class RunningReports {
  private readonly running = new Map<string, number>();

  /** @returns false if the caller has too many running reports */
  acquire(caller: string): boolean {
    const count = this.running.get(caller) ?? 0;
    if (count >= MAX_RUNNING) return false;
    this.running.set(caller, count + 1);
    return true;
  }

  release(caller: string): void {
    const count = (this.running.get(caller) ?? 0) - 1;
    if (count > 0) this.running.set(caller, count);
    else this.running.delete(caller);
  }
}

/**
 * Limits each caller to 4 concurrent reports in this process. A report uses much memory and a NATS connection, even
 * after its client disconnects.
 */
@Injectable()
export class ConcurrencyLimitInterceptor implements NestInterceptor {
  constructor(private readonly reports: RunningReports) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const http = context.switchToHttp();
    const { operator, token } = http.getRequest<OperatorRequest & { token?: ClientTokenInfo }>();
    const caller = operator ? `operator ${operator.identity.subject}` : `client ${token?.clientId}`;
    if (!this.reports.acquire(caller))
      throw new RefusedRequestError(429, `${MAX_RUNNING} reports of yours are running: retry later`, {
        headers: { 'Retry-After': '5' },
        detail: { check: 'reports_running' },
      });
    const { raw } = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      // A download runs until it is sent. `finished` calls back even if the client has already disconnected.
      finalize(() => {
        finished(raw, () => this.reports.release(caller));
      }),
    );
  }
}
