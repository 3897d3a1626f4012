import { hash } from 'node:crypto';
import {
  type CallHandler,
  type ExecutionContext,
  HttpStatus,
  Injectable,
  type NestInterceptor,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { Html } from '#ui/html.js';
import { Form, FORM_ID } from './form.js';
import type { PageRequest } from './account.js';
import { IdempotencyService, REPEATABLE } from './idempotency.service.js';
import { isPage } from './page.responder.js';
import { RateLimits } from './rate-limit.js';
import { KeptFormsService } from './kept-forms.service.js';
import { LoginTooOldError } from './recent-logins.js';
import { BrowserCookie } from './cookies.js';

const CREATES = Symbol('creates a record');

/** Characters of a page that shows a form again with a logo. */
const MAX_STORED = 256 * 1024;

/** Milliseconds for which the second request of a double click waits for the first. */
const WAIT_MS = 15_000;

/** For a form that creates a record: after an unknown failure, it is not executed again. */
export const Creates = (): MethodDecorator => SetMetadata(CREATES, true);

/** Seconds for which a form that creates nothing is not executed again: enough for a double click or a reload. */
const LIFETIME = 5 * 60;

/**
 * Executes each form once: a form that is sent again, by a double click or a reload, gets the same page, which says so.
 * Stores nothing for a request without a session.
 */
@Injectable()
export class FormInterceptor implements NestInterceptor {
  constructor(
    private readonly idempotency: IdempotencyService,
    private readonly keptForms: KeptFormsService,
    private readonly browsers: BrowserCookie,
    private readonly limits: RateLimits,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const sent = context.switchToHttp().getRequest<PageRequest>();
    const { url, headers, body, account } = sent;
    if (!(body instanceof Form)) return next.handle();
    const [owner, id] = [this.browsers.read(headers.cookie) ?? '', body.text(FORM_ID)];
    if (id === '') throw new RefusedRequestError(400, 'the form is incomplete: open its page again');
    // PostgreSQL would fail on a NUL character.
    if (body.toString().includes('%00'))
      throw new RefusedRequestError(400, 'the form contains a NUL character');
    const files = [...body.files].map(([name, file]) => `${name}=${file.toString('base64')}`);
    const content = [url, body.toString(), ...files].join(' ');
    // A page that the browser shows again, after Back, has the same id, but the user may change its fields.
    const key = `${id} ${hash('sha256', content)}`;
    const creates = this.reflector.get<boolean | undefined>(CREATES, context.getHandler()) ?? false;
    const lifetime = creates ? REPEATABLE : LIFETIME;
    let showsForm = false;
    const execute = async (): Promise<string> => {
      const result = await lastValueFrom<unknown>(next.handle());
      showsForm = isPage(result) && result.status !== HttpStatus.CREATED;
      return JSON.stringify(result ?? null);
    };
    // Such a page repeats the input, so that its user could fill Redis.
    const lifetimeOf = async ({ length }: string): Promise<number> => {
      if (!showsForm) return lifetime;
      return length <= MAX_STORED && (await this.limits.hasRoom('allPages', sent)) ? LIFETIME : 0;
    };
    const request = {
      owner,
      key,
      content,
      creates,
      lifetime,
      lifetimeOf,
      isStored: account !== undefined,
      waitMs: WAIT_MS,
    };
    return from(
      this.idempotency.once(request, execute).then(
        ({ text, executedAt }) => {
          const result: unknown = JSON.parse(text, revived);
          return executedAt !== null && isPage(result) ? { ...result, executedAt } : result;
        },
        async (error: unknown) => {
          throw error instanceof LoginTooOldError
            ? await this.keptForms.loginRequired(context, 'again')
            : error;
        },
      ),
    );
  }
}

/** Restores the markup of a page. */
function revived(name: string, value: unknown): unknown {
  const isMarkup = name === 'content' || name === 'heading';
  return isMarkup ? new Html((value as Html).text) : value;
}
