import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { RefusedRequestError } from '#platform/http/failed-request.js';
import { CSRF_FIELD, isCsrfToken } from '#ui/browser-cookie.js';
import { ConsoleConfiguration } from '../console.configuration.js';
import { Form, withoutQuery } from '../form.js';
import type { Account, OperatorRequest } from '../operator.js';

@Injectable()
export class FormCheck {
  constructor(private readonly configuration: ConsoleConfiguration) {}

  /** @throws RefusedRequestError unless a page of the console showed the form to the user in this browser */
  check({ url, headers, body }: OperatorRequest, { formKey }: Account): void {
    this.checkOrigin(headers);
    if (!(body instanceof Form) || !isCsrfToken(body.get(CSRF_FIELD), formKey, withoutQuery(url)))
      throw new RefusedRequestError(403, 'the form is out of date: open its page again');
  }

  /**
   * If a browser sends neither header, only the CSRF token protects the form.
   * @throws RefusedRequestError if another site sent the form
   */
  checkOrigin({ 'sec-fetch-site': site, origin }: IncomingHttpHeaders): void {
    const foreignSite = site !== undefined && site !== 'same-origin';
    // Accepts "null", which browsers send with every form because of our Referrer-Policy, no-referrer.
    const foreignOrigin =
      origin !== undefined && origin !== 'null' && origin !== this.configuration.CONSOLE_URL;
    if (foreignSite || foreignOrigin) throw new RefusedRequestError(403, 'the form was sent by another site');
  }
}
