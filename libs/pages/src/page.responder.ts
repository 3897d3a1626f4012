import {
  type CallHandler,
  type ExecutionContext,
  type HttpRedirectResponse,
  HttpStatus,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';
import { Brand } from '#ui/brand/brand.js';
import { contentSecurityPolicy, html, Html, refreshTo } from '#ui/html.js';
import type { PageRequest } from './account.js';
import { FOCUS, noteBox } from './components.js';
import { COPY_SCRIPT_PATH } from './copy-script.js';

export const ICON_PATH = '/icon';

export interface Page {
  readonly title: string;
  /** Markup of the `<h1>`, if it is more than the title. */
  readonly heading?: Html;
  readonly content: Html;
  readonly frames?: true;
  readonly status?: number;
  /** URL that the browser opens immediately, also on another site (`refreshTo`). */
  readonly next?: string;
  readonly menu?: false;
  /** Path of the entry of the menu to which the page belongs. */
  readonly section?: string;
  /** For a form that was sent again and not executed again: time of its execution in milliseconds since the epoch. */
  readonly executedAt?: number;
}

/** Page without a menu that leads to another URL: immediately, or by its link. @param text of the link */
export function forwardPage(title: string, next: string, text: string): Page {
  return {
    title,
    menu: false,
    next,
    content: html`<p><a class="button" href="${next}">${text}</a></p>`,
  };
}

export function isPage(result: unknown): result is Page {
  return (result as Partial<Page> | null | undefined)?.content instanceof Html;
}

/** Result of a handler. After 303, the browser sends a GET and does not resend the form. */
export function seeOther(url: string): HttpRedirectResponse {
  return { url, statusCode: HttpStatus.SEE_OTHER };
}

/** Parts of a page that its app adds around the content. */
export interface Frame {
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  readonly skip: string;
  readonly header: string;
  /** Null for a user who is not logged in. */
  readonly menu: Html | null;
  /** Note about a form that was not executed again. */
  readonly repeatedAt: (time: Date) => string;
}

export abstract class PageFrame {
  abstract of(request: PageRequest, page: Page): Frame;
}

@Injectable()
export class PageResponder {
  constructor(
    private readonly brand: Brand,
    private readonly frame: PageFrame,
  ) {}

  render(request: PageRequest, reply: FastifyReply, page: Page): string {
    const frame = this.frame.of(request, page);
    void reply
      .status(page.status ?? 200)
      .header(
        'Content-Security-Policy',
        contentSecurityPolicy({ frames: page.frames === true, script: copies(page) }, this.brand.styleSource),
      )
      .header('Content-Language', frame.language)
      .type('text/html; charset=utf-8');
    return this.documentOf(page, frame);
  }

  private documentOf(page: Page, frame: Frame): string {
    const { title, heading, content, menu, next, executedAt } = page;
    const { productName, icon, style } = this.brand;
    const note = executedAt !== undefined && noteBox(frame.repeatedAt(new Date(executedAt)));
    return html`<!doctype html>
      <html lang="${frame.language}" ${frame.direction === 'rtl' && html`dir="rtl"`}>
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="robots" content="noindex" />
          <title>${title} · ${productName}</title>
          <link rel="icon" href="${ICON_PATH}" type="${icon.mediaType}" />
          ${style} ${next !== undefined && refreshTo(next)}
          ${copies(page) && html`<script src="${COPY_SCRIPT_PATH}" defer></script>`}
        </head>
        <body>
          <a class="skip" href="#content">${frame.skip}</a>
          <header class="brand">${frame.header}</header>
          ${menu !== false && frame.menu}
          <main id="content">
            <h1>${heading ?? title}</h1>
            ${focusedOnce(html`${note} ${content}`)}
          </main>
        </body>
      </html>`.text;
  }
}

function focusedOnce({ text }: Html): Html {
  // Texts of users are escaped, and contain no quotation marks.
  const focus = ` ${FOCUS.text}`;
  const [before = '', ...rest] = text.split(focus);
  return rest.length < 2 ? new Html(text) : new Html(`${before}${focus}${rest.join('')}`);
}

/** Only pages with a value to copy load the script. */
function copies({ content }: Page): boolean {
  return content.text.includes(' data-copies=');
}

/** Links of a menu. @param sections texts by path */
export function menuLinks(sections: Readonly<Record<string, string>>, current: string | undefined): Html {
  return html`<ul class="plain">
    ${Object.entries(sections).map(
      ([path, text]) =>
        html`<li><a href="${path}" ${path === current && html`aria-current="page"`}>${text}</a></li>`,
    )}
  </ul>`;
}

/** Renders the pages that handlers return, and sends their redirects. */
@Injectable()
export class PageInterceptor implements NestInterceptor {
  constructor(private readonly pages: PageResponder) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<PageRequest>();
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      map((result: unknown) => {
        if (isPage(result)) return this.pages.render(request, reply, result);
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
