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
import type { Operator, OperatorRequest } from '../operator.js';
import { button, FOCUS, noteBox, postForm } from './components.js';
import { COPY_SCRIPT_PATH } from './copy-script.js';
import { moment, phrase } from './text.js';

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
  readonly section?: Section;
  /** For a form that was sent again and not executed again: time of its execution in milliseconds since the epoch. */
  readonly executedAt?: number;
}

export function isPage(result: unknown): result is Page {
  return (result as Partial<Page> | null | undefined)?.content instanceof Html;
}

const SECTIONS = {
  '/': 'Overview',
  '/applications': 'Applications',
  '/users': 'Users',
  '/operators': 'Operators',
  '/jobs': 'Bulk actions',
  '/events': 'What happened',
  '/audit': 'Audit',
  '/health': 'Health',
} as const;

export type Section = keyof typeof SECTIONS;

/** Result of a handler. After 303, the browser sends a GET and does not resend the form. */
export function seeOther(url: string): HttpRedirectResponse {
  return { url, statusCode: HttpStatus.SEE_OTHER };
}

@Injectable()
export class PageResponder {
  constructor(private readonly brand: Brand) {}

  render(reply: FastifyReply, page: Page, operator: Operator | null): string {
    void reply
      .status(page.status ?? 200)
      .header(
        'Content-Security-Policy',
        contentSecurityPolicy({ frames: page.frames === true, script: copies(page) }, this.brand.styleSource),
      )
      .header('Content-Language', 'en')
      .type('text/html; charset=utf-8');
    return this.documentOf(page, operator);
  }

  private documentOf(page: Page, operator: Operator | null): string {
    const { title, heading, content, menu, section, next, executedAt } = page;
    const { productName, icon, style } = this.brand;
    return html`<!doctype html>
      <html lang="en">
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
          <a class="skip" href="#content">Skip to content</a>
          <header class="brand">${phrase('{product} console', { product: productName })}</header>
          ${operator && menu !== false && menuOf(operator, section)}
          <main id="content">
            <h1>${heading ?? title}</h1>
            ${focusedOnce(html`${executedAt !== undefined && repeatedNote(executedAt)} ${content}`)}
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

function repeatedNote(executedAt: number): Html {
  const time = moment(new Date(executedAt));
  return noteBox(
    phrase('You sent this form again, and it was not executed again. This is its result of {time}.', {
      time,
    }),
  );
}

/** Only pages with a value to copy load the script. */
function copies({ content }: Page): boolean {
  return content.text.includes(' data-copies=');
}

function menuOf(operator: Operator, current: Section | undefined): Html {
  return html`<nav aria-label="Menu">
    <ul class="plain">
      ${Object.entries(SECTIONS).map(
        ([path, text]) =>
          html`<li><a href="${path}" ${path === current && html`aria-current="page"`}>${text}</a></li>`,
      )}
    </ul>
    ${postForm(
      operator,
      '/logout',
      html`<span class="quiet"><bdi>${operator.name}</bdi> (${operator.role})</span>
        ${button('Log out', 'plain')}`,
      '',
    )}
  </nav>`;
}

/** Renders the pages that handlers return, and sends their redirects. */
@Injectable()
export class PageInterceptor implements NestInterceptor {
  constructor(private readonly pages: PageResponder) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { operator = null } = http.getRequest<OperatorRequest>();
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      map((result: unknown) => {
        if (isPage(result)) return this.pages.render(reply, result, operator);
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
