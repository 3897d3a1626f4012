import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Brand } from '#ui/brand/brand.js';
import { contentSecurityPolicy, html, type Html, type PageSources, refreshTo } from '#ui/html.js';
import { rawQuery } from '../urls.js';
import { continuationPage } from './components.js';
import { type LanguageContext, LanguageService, type Translator } from './i18n/language.service.js';
import { SCRIPT_PATH } from './script.controller.js';
import { UiOptions } from './ui-options.js';

/**
 * Longest `Location`, in characters. nginx answers 502 unless all headers of a response fit into its
 * `proxy_buffer_size`, 4 kB by default; the other headers need less than 2 kB.
 */
const MAX_LOCATION = 2_000;

export interface UserPage extends PageSources {
  readonly translator: Translator;
  readonly title: string;
  readonly content: Html;
  /** URL to which the browser continues by itself. */
  readonly continuesAt?: string;
}

export interface Redirect {
  readonly location: string;
  /** Name of the application at the location; null for a page of this service or of a login provider. */
  readonly application?: string | null;
  readonly reader?: LanguageContext;
}

@Injectable()
export class UserPageResponder {
  constructor(
    private readonly options: UiOptions,
    private readonly language: LanguageService,
  ) {}

  page(reply: FastifyReply, status: number, page: UserPage): void {
    const { brand } = this.options;
    void reply
      .status(status)
      .header('Content-Security-Policy', contentSecurityPolicy(page, brand.styleSource))
      .header('Content-Language', page.translator.locale)
      .type('text/html; charset=utf-8')
      .send(documentOf(page, brand));
  }

  /**
   * Continues at another URL with GET, so that the browser does not resend a password or decision (RFC 9700 4.12). The
   * response to a form is a page, because `form-action` would also apply to a redirect and to the redirects that
   * follow. A long URL is in a page as well, because proxies limit the headers of a response.
   */
  redirect(reply: FastifyReply, { location, application = null, reader }: Redirect): void {
    const { method, headers, url } = reply.request;
    if (method !== 'POST' && location.length <= MAX_LOCATION)
      return void reply.status(303).header('Location', location).send();
    const translator = this.language.translatorFor(reader ?? { headers, query: rawQuery(url) });
    this.page(reply, 200, continuationPage(translator, location, application));
  }

  seeOther(reply: FastifyReply, location: string): void {
    this.redirect(reply, { location });
  }
}

const scriptElement = html`<script src="${SCRIPT_PATH}" defer></script>`;

export function documentOf(
  { translator, title, content, script = false, continuesAt }: UserPage,
  brand: Brand,
): string {
  const { productName, header, iconLink, style } = brand;
  return html`<!doctype html>
    <html lang="${translator.locale}" dir="${translator.direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · ${productName}</title>
        ${continuesAt !== undefined && refreshTo(continuesAt)} ${iconLink} ${style} ${script && scriptElement}
      </head>
      <body>
        ${header}
        <main>${content}</main>
        ${links(translator, brand)}
      </body>
    </html>`.text;
}

const LINKS = ['product', 'privacy', 'terms', 'help'] as const;

function links(translator: Translator, brand: Brand): Html | false {
  const shown = LINKS.filter((name) => brand.links[name] !== null);
  if (shown.length === 0) return false;
  return html`<footer class="links">
    ${shown.map((name) => html`<a class="alone" href="${brand.links[name]}">${translator.text(`brand.${name}`, { product: brand.productName })}</a>`)}
  </footer>`;
}
