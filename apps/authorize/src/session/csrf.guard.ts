import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Check } from '#oauth/error-guide/error-guide.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { AuthorizeConfiguration } from '../authorize.configuration.js';
import { html, type Html } from '../ui/html.js';
import { SessionCookie } from './session.service.js';

/** What a form does. The token of one form is not valid for another. */
export type FormPurpose =
  'login' | 'logout' | 'logout_everywhere' | 'consent' | 'language' | 'revoke' | 'revoke_all';

/** The fields of a posted form. */
export type FormFields = Readonly<Record<string, unknown>>;

/** Name of the hidden field. */
const CSRF_FIELD = 'csrf_token';

const PURPOSE = Symbol('purpose of the form');

/** Accepts a form of this purpose only from our own page, in the browser that the page was sent to. */
export function ProtectForm(purpose: FormPurpose): MethodDecorator {
  return applyDecorators(SetMetadata(PURPOSE, purpose), UseGuards(CsrfGuard));
}

/**
 * Rejects forms that another site sent: checks Sec-Fetch-Site and Origin, then the CSRF token, which is bound to the
 * session cookie. Throws an OAuthError with status 403, or 400 for a form with repeated fields, which no page sends.
 */
@Injectable()
class CsrfGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly cookies: SessionCookie,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers, body } = context.switchToHttp().getRequest<FastifyRequest>();
    const fields = (body ?? {}) as FormFields;
    if (Object.values(fields).some(Array.isArray))
      throw OAuthError.invalidRequest('a field of the form is repeated', {
        detail: { check: 'form_fields' },
      });
    this.checkOrigin(headers);
    const cookie = this.cookies.read(headers.cookie);
    if (cookie === null)
      throw forbidden(
        'your browser did not send the cookie of this site; cookies are needed to log in',
        'cookie',
      );
    const purpose = this.reflector.get<FormPurpose>(PURPOSE, context.getHandler());
    if (!isCsrfToken(fields[CSRF_FIELD], cookie, purpose))
      throw forbidden('the form is out of date, or it did not come from this site', 'csrf_token');
    return true;
  }

  /** Browsers that are too old to send these headers rely on the token alone. */
  private checkOrigin({ 'sec-fetch-site': site, origin }: IncomingHttpHeaders): void {
    if (site !== undefined && site !== 'same-origin')
      throw forbidden('the form was sent by another site', 'sec_fetch_site', site);
    // "null" says nothing: because of our Referrer-Policy, no-referrer, browsers send it with every form
    // (Fetch standard, "append a request Origin header").
    if (origin !== undefined && origin !== 'null' && origin !== this.configuration.AUTH_URL)
      throw forbidden('the form was sent by another site', 'origin', origin);
  }
}

/**
 * The token of a form: HMAC-SHA-256 keyed with the session cookie. No other site can read the cookie, and it is 256
 * random bits, so nothing is stored and the server needs no secret.
 */
export function csrfToken(cookie: string, purpose: FormPurpose): string {
  return mac(cookie, purpose).toString('base64url');
}

/** The hidden field that every form of our pages contains. */
export function csrfField(cookie: string, purpose: FormPurpose): Html {
  return html`<input type="hidden" name="${CSRF_FIELD}" value="${csrfToken(cookie, purpose)}" />`;
}

/** Compares in constant time. */
function isCsrfToken(presented: unknown, cookie: string, purpose: FormPurpose): boolean {
  const bytes = Buffer.from(typeof presented === 'string' ? presented : '', 'base64url');
  const expected = mac(cookie, purpose);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

function mac(cookie: string, purpose: FormPurpose): Buffer {
  return createHmac('sha256', cookie).update(`csrf:${purpose}`).digest();
}

function forbidden(description: string, check: Check, value?: string | string[]): OAuthError {
  const detail = { check, ...(value !== undefined && { value: String(value).slice(0, 200) }) };
  return new OAuthError('invalid_request', 403, description, { detail });
}
