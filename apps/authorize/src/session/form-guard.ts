import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { OAuthError } from '#oauth/oauth-error.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { BrowserCookie } from './browser-cookie.js';
import { CSRF_FIELD, type FormPurpose, isCsrfToken } from './csrf-token.js';

/** A form as it arrived; a value that is not a string stands for one that cannot be. */
export type FormFields = Readonly<Record<string, unknown>>;

/** Lets through only what a form of our own pages sent, from the browser that the page was given to. */
@Injectable()
export class FormGuard {
  constructor(
    private readonly cookies: BrowserCookie,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  /**
   * @returns the browser's cookie
   * @throws OAuthError with status 403, or 400 for a form with repeated fields, which our pages never send
   */
  check(headers: IncomingHttpHeaders, fields: FormFields, purpose: FormPurpose): string {
    if (Object.values(fields).some(Array.isArray))
      throw OAuthError.invalidRequest('a field of the form is repeated');
    this.sameOrigin(headers);
    const cookie = this.cookies.read(headers.cookie);
    if (cookie === null)
      throw refused(
        'your browser did not send the cookie of this site; cookies are needed to log in',
        'cookie',
      );
    if (!isCsrfToken(fields[CSRF_FIELD], cookie, purpose))
      throw refused('the form is out of date, or it did not come from this site', 'csrf_token');
    return cookie;
  }

  /** Browsers tell where a form was; those too old to do so leave it to the token. */
  private sameOrigin(headers: IncomingHttpHeaders): void {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin')
      throw refused('the form was sent by another site', 'sec_fetch_site', site);
    // "null" tells nothing: under our own Referrer-Policy, no-referrer, browsers send it with every form
    // (Fetch standard, "append a request Origin header").
    const { origin } = headers;
    if (origin !== undefined && origin !== 'null' && origin !== this.configuration.AUTH_URL)
      throw refused('the form was sent by another site', 'origin', origin);
  }
}

function refused(description: string, check: string, value?: string | string[]): OAuthError {
  const detail = { check, ...(value !== undefined && { value: String(value).slice(0, 200) }) };
  return new OAuthError('invalid_request', 403, description, { detail });
}
