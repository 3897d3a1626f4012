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
import type { PageReasons, Reason } from '#oauth/reasons.js';
import { OAuthError } from '#oauth/oauth-error.js';
import { AuthorizeConfiguration } from '../configuration/authorize.configuration.js';
import { CSRF_FIELD, foreignSender, isCsrfToken } from '#ui/browser-cookie.js';
import { UserSessionCookie } from './session.service.js';

/** Purpose of a form. A CSRF token is valid for only one purpose. */
export type FormPurpose =
  | 'login'
  | 'logout'
  | 'end_session'
  | 'logout_everywhere'
  | 'consent'
  | 'device'
  | 'language'
  | 'revoke'
  | 'revoke_all';

export type FormFields = Readonly<Record<string, unknown>>;

type Exemption = (fields: FormFields, configuration: AuthorizeConfiguration) => boolean;

interface Protection {
  readonly purpose: FormPurpose;
  readonly isExempt: Exemption;
}

const PROTECTION = Symbol('protection of the form');

/** @param isExempt returns true for requests that other sites may send; the handler must not process them as a form */
export function ProtectForm(purpose: FormPurpose, isExempt: Exemption = () => false): MethodDecorator {
  return applyDecorators(
    SetMetadata(PROTECTION, { purpose, isExempt } satisfies Protection),
    UseGuards(CsrfGuard),
  );
}

/** Checks Sec-Fetch-Site, Origin and the CSRF token. @throws OAuthError 403, or 400 for repeated fields */
@Injectable()
class CsrfGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly cookies: UserSessionCookie,
    private readonly configuration: AuthorizeConfiguration,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers, body } = context.switchToHttp().getRequest<FastifyRequest>();
    const fields = (body ?? {}) as FormFields;
    const { purpose, isExempt } = this.reflector.get<Protection>(PROTECTION, context.getHandler());
    if (isExempt(fields, this.configuration)) return true;
    if (Object.values(fields).some(Array.isArray)) throw OAuthError.invalidRequest('form_field_repeated');
    const foreign = foreignSender(headers, this.configuration.AUTH_URL);
    if (foreign === 'sec-fetch-site') throw forbidden('sec_fetch_site_mismatch', headers[foreign]);
    if (foreign === 'origin') throw forbidden('origin_mismatch', headers[foreign]);
    const cookie = this.cookies.read(headers.cookie);
    if (cookie === null) throw forbidden('cookie_missing');
    if (!isCsrfToken(fields[CSRF_FIELD], cookie, purpose)) throw forbidden('csrf_token_mismatch');
    return true;
  }
}

function forbidden(reason: Reason<PageReasons>, value?: string | string[]): OAuthError {
  const detail = value === undefined ? {} : { value: String(value).slice(0, 200) };
  return new OAuthError('invalid_request', 403, reason, { detail });
}
