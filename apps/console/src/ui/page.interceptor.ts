import {
  type CallHandler,
  type ExecutionContext,
  type HttpRedirectResponse,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';
import type { OperatorRequest } from '../operator.js';
import { isPage, PageResponder } from './page.responder.js';

/** Renders the pages that handlers return, and sends their redirects. */
@Injectable()
export class PageInterceptor implements NestInterceptor {
  constructor(private readonly pages: PageResponder) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { operator = null } = http.getRequest<OperatorRequest>();
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      map((result: unknown) => {
        if (isPage(result)) return this.pages.render(reply, result, operator);
        if (!isRedirect(result)) return result;
        void reply.status(result.statusCode).header('Location', result.url);
        return '';
      }),
    );
  }
}

function isRedirect(result: unknown): result is HttpRedirectResponse {
  const { url, statusCode } = (result ?? {}) as Partial<HttpRedirectResponse>;
  return typeof url === 'string' && typeof statusCode === 'number';
}
