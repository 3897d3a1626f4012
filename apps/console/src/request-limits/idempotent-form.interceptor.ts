import { randomBytes } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { Html } from '#ui/html.js';
import { RefusedRequestError } from '#platform/http/refused-request.js';
import type { OperatorRequest } from '../operator.js';
import { Form } from '../form.js';
import type { Page } from '../ui/page.responder.js';
import { IdempotencyService } from './idempotency.service.js';

export const FORM_ID = 'form_id';

/** Returns the name and value of a hidden field with a new id. */
export function formId(): readonly [name: string, value: string] {
  return [FORM_ID, randomBytes(16).toString('base64url')];
}

@Injectable()
export class IdempotentFormInterceptor implements NestInterceptor<Page, Page> {
  constructor(private readonly idempotency: IdempotencyService) {}

  intercept(context: ExecutionContext, next: CallHandler<Page>): Observable<Page> {
    const { operator, url, body } = context.switchToHttp().getRequest<OperatorRequest>();
    const form = body instanceof Form ? body : new Form();
    const [owner, key] = [operator?.cookie ?? '', form.text(FORM_ID)];
    if (key === '') throw new RefusedRequestError(400, 'the form is incomplete: open its page again');
    const request = { owner, key, content: `${url} ${form.toString()}`, creates: true };
    return from(
      this.idempotency
        .once(request, async () => JSON.stringify(await lastValueFrom(next.handle())))
        .then((text) => {
          const { heading, content, ...page } = JSON.parse(text) as Page;
          return {
            ...page,
            ...(heading && { heading: new Html(heading.text) }),
            content: new Html(content.text),
          };
        }),
    );
  }
}
