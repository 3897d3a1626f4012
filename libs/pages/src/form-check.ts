import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { CSRF_FIELD, foreignSender, isCsrfToken } from '#ui/browser-cookie.js';
import type { Account, PageRequest } from './account.js';
import { Form, withoutQuery } from './form.js';
import { PagesOptions } from './pages.options.js';

@Injectable()
export class FormCheck {
  constructor(private readonly options: PagesOptions) {}

  /** @throws RefusedRequestError unless a page of this app showed the form to the user in this browser */
  check({ url, headers, body }: PageRequest, { formKey }: Account): void {
    this.checkOrigin(headers);
    if (!(body instanceof Form) || !isCsrfToken(body.get(CSRF_FIELD), formKey, withoutQuery(url)))
      throw new RefusedRequestError(403, 'the form is out of date: open its page again', {
        detail: { check: 'csrf_token_mismatch' },
      });
  }

  /** @throws RefusedRequestError if another site sent the form */
  checkOrigin(headers: IncomingHttpHeaders): void {
    if (foreignSender(headers, this.options.url) !== null)
      throw new RefusedRequestError(403, 'the form was sent by another site');
  }
}
