import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';
import { Html } from '#ui/html.js';
import type { OperatorRequest } from '../operator.js';
import { type Page, PageResponder } from './page.responder.js';

@Injectable()
export class PageInterceptor implements NestInterceptor {
  constructor(private readonly pages: PageResponder) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { operator = null } = http.getRequest<OperatorRequest>();
    const reply = http.getResponse<FastifyReply>();
    return next
      .handle()
      .pipe(map((result: unknown) => (isPage(result) ? this.pages.render(reply, result, operator) : result)));
  }
}

function isPage(result: unknown): result is Page {
  return (result as Partial<Page> | null | undefined)?.content instanceof Html;
}
