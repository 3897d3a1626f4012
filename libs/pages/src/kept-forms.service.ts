import { createHash, randomBytes } from 'node:crypto';
import { createParamDecorator, type ExecutionContext, Inject, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { decrypt, encrypt, type EncryptionKey } from '#platform/encryption.js';
import { type RedisClient, withRedisErrors } from '#platform/redis/redis-client.js';
import { REDIS } from '#platform/redis/redis.connection.js';
import { CSRF_FIELD, isCsrfToken } from '#ui/browser-cookie.js';
import type { Account, PageRequest } from './account.js';
import { Form, FORM_ID, KEPT_FORM, queryOf, withoutQuery } from './form.js';
import { isFormId } from './form-id.js';
import { PagesOptions } from './pages.options.js';
import { RateLimits } from './rate-limit.js';
import { LoginRequiredError } from './recent-logins.js';
import { BrowserCookie } from './cookies.js';

/** Seconds; a login may take as long (`OpenIdLogin`). */
const LIFETIME = 60 * 60;

const SENT_FROM = Symbol('page of the form');

interface FormPage {
  readonly page: string;
  readonly isKept: boolean;
}

/**
 * Sets the page that shows a form, by default a page at the path of the form. After a login, the user returns to
 * this page.
 * @param page URL relative to the path of the form
 * @param isKept false if the form contains keys, which must be typed again
 */
export const SentFrom = (page: string, isKept = true): MethodDecorator =>
  SetMetadata(SENT_FROM, { page, isKept } satisfies FormPage);

/** The form that the user sent before the login; null if there is none. */
export const SentBeforeLogin = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Form | null =>
    context.switchToHttp().getRequest<PageRequest>().keptForm ?? null,
);

interface KeptForm {
  readonly page: string;
  /** Path to which the form was sent. */
  readonly path: string;
  readonly fields: string;
  /** Contents in base64. */
  readonly files: readonly (readonly [name: string, content: string])[];
}

/**
 * Keeps the form of a request that requires a login, so that its page shows the input after the login. Redis stores the
 * form under a hash of its id, encrypted with the cookie of the browser. It is never executed: the user sends it
 * again. Only the same user in the same browser can read it, because its CSRF token must be valid. A form that no
 * page of this app showed in this browser is not kept, so that requests without a login cannot fill Redis.
 */
@Injectable()
export class KeptFormsService {
  constructor(
    @Inject(REDIS) private readonly redis: RedisClient,
    private readonly browsers: BrowserCookie,
    private readonly limits: RateLimits,
    private readonly reflector: Reflector,
    private readonly options: PagesOptions,
  ) {}

  /** Keeps the form of the request, if it has one. @returns the error that opens the login */
  async loginRequired(context: ExecutionContext, reason: 'first' | 'again'): Promise<LoginRequiredError> {
    const request = context.switchToHttp().getRequest<PageRequest>();
    const { method, url, body } = request;
    if (method === 'GET') return new LoginRequiredError(url, reason);
    const { page, isKept } = this.reflector.get<FormPage | undefined>(SENT_FROM, context.getHandler()) ?? {
      page: '',
      isKept: true,
    };
    const from = resolve(url, page);
    const browser = this.browsers.read(request.headers.cookie);
    if (!isKept || browser === null || !(body instanceof Form) || body.isEmpty)
      return new LoginRequiredError(from, reason);
    if (!isFormId(body.text(FORM_ID), this.browsers.formIdKey(browser)))
      return new LoginRequiredError(from, reason);
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    await this.limits.take('forms', request, reply);
    if (!(await this.limits.hasRoom('allForms', request))) return new LoginRequiredError(from, reason);
    const id = await this.keep(browser, {
      page: from,
      path: withoutQuery(url),
      fields: body.toString(),
      files: [...body.files].map(([name, content]) => [name, content.toString('base64')]),
    });
    return new LoginRequiredError(`${from}?${KEPT_FORM}=${id}`, reason);
  }

  /** Reads the kept form that the query of a page names, or the files of the kept form that a form names. */
  async restore(request: PageRequest, account: Account): Promise<void> {
    const { method, url, body } = request;
    if (method === 'GET') {
      const id = queryOf(url).get(KEPT_FORM);
      if (id !== null) request.keptForm = await this.read(id, account, withoutQuery(url));
    } else if (body instanceof Form && body.has(KEPT_FORM)) {
      const kept = await this.read(body.text(KEPT_FORM), account, withoutQuery(url));
      for (const [name, content] of kept?.files ?? [])
        if (!body.files.has(name)) body.files.set(name, content);
    }
  }

  private async keep(browser: string, form: KeptForm): Promise<string> {
    const id = randomBytes(16).toString('base64url');
    const text = encrypt(JSON.stringify(form), this.keyFor(id, browser));
    await withRedisErrors(this.redis.set(this.keyOf(id), text, 'EX', LIFETIME));
    return id;
  }

  private async read(id: string, { browser, formKey }: Account, at: string): Promise<Form | null> {
    const stored = await withRedisErrors(this.redis.get(this.keyOf(id)));
    const text = stored === null ? null : decrypt(stored, this.keyFor(id, browser));
    if (text === null) return null;
    const { page, path, fields, files } = JSON.parse(text) as KeptForm;
    const form = new Form(fields);
    if (page !== at || !isCsrfToken(form.get(CSRF_FIELD), formKey, path)) return null;
    form.delete(CSRF_FIELD);
    form.delete(FORM_ID);
    form.set(KEPT_FORM, id);
    for (const [name, content] of files) form.files.set(name, Buffer.from(content, 'base64'));
    return form;
  }

  private keyFor(id: string, browser: string): EncryptionKey {
    const { app, login } = this.options;
    return { secret: `${login.clientSecret} ${browser}`, purpose: `kept form of the ${app}`, record: id };
  }

  private keyOf(id: string): string {
    return `${this.options.app}:form:${createHash('sha256').update(id).digest('base64url')}`;
  }
}

/** @param relative URL without a query; `.` is the parent of the path */
function resolve(url: string, relative: string): string {
  const { pathname } = new URL(relative, new URL(withoutQuery(url), 'https://pages'));
  return pathname.replace(/(?<=.)\/$/, '');
}
