import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Brand } from '#ui/brand/brand.js';
import { html, type Html } from '#ui/html.js';
import type { Translator } from './i18n/translator.js';
import { contentSecurityPolicy, type PageSources } from '#ui/page-headers.js';
import { SCRIPT_PATH } from './script.controller.js';

export abstract class UiOptions {
  abstract readonly brand: Brand;
  abstract readonly secure: boolean;
  /** form-action sources to which forms redirect after a log-out or an expired session; empty for password logins. */
  abstract readonly loginTargets: readonly string[];
}

export interface Page extends PageSources {
  readonly translator: Translator;
  readonly title: string;
  readonly content: Html;
}

@Injectable()
export class PageResponder {
  constructor(private readonly options: UiOptions) {}

  page(reply: FastifyReply, status: number, page: Page): void {
    const { loginTargets, brand } = this.options;
    const own = page.formTargets ?? [];
    const logins = page.submitsHere === false ? [] : loginTargets;
    const targets = [...own, ...logins.filter((target) => !own.includes(target))];
    void reply
      .status(status)
      .header(
        'Content-Security-Policy',
        contentSecurityPolicy({ ...page, formTargets: targets }, brand.styleSource),
      )
      .header('Content-Language', page.translator.locale)
      .type('text/html; charset=utf-8')
      .send(documentOf(page, brand));
  }

  /** Browsers follow 303 with GET, and do not resend a password or decision (RFC 9700 4.12). */
  seeOther(reply: FastifyReply, location: string): void {
    void reply.status(303).header('Location', location).send();
  }
}

const scriptElement = html`<script src="${SCRIPT_PATH}" defer></script>`;

export function documentOf({ translator, title, content, script = false }: Page, brand: Brand): string {
  const { productName, header, iconLink, style } = brand;
  return html`<!doctype html>
    <html lang="${translator.locale}" dir="${translator.direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title} · ${productName}</title>
        ${iconLink} ${style} ${script && scriptElement}
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
