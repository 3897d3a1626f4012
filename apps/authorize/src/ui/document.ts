import type { Words } from './i18n/words.js';
import { html, Html } from './html.js';
import { SCRIPT_PATH } from './script.js';
import { STYLESHEET } from './stylesheet.js';

/** One page for people: what stands in the browser's title, and what in the card. */
export interface Page {
  /** Decide the language and direction of the document. */
  readonly words: Words;
  readonly title: string;
  readonly content: Html;
  /** Sources besides our own that its forms may lead to (CSP form-action). */
  readonly formTargets?: readonly string[];
  /** Origins besides our own that it shows pictures of (CSP img-src). */
  readonly imageOrigins?: readonly string[];
  /** Whether it gains something by our script; it works without. */
  readonly script?: boolean;
}

const style = new Html(`<style>${STYLESHEET}</style>`);
const script = html`<script src="${SCRIPT_PATH}" defer></script>`;

/**
 * The page as an HTML document, whole in one answer.
 *
 * @param product name of the service that the user logs in to
 */
export function document({ words, title, content, script: scripted = false }: Page, product: string): string {
  return html`<!doctype html>
    <html lang="${words.locale}" dir="${words.direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}${product !== '' && ` · ${product}`}</title>
        ${style} ${scripted && script}
      </head>
      <body>
        ${product !== '' && html`<header class="brand">${product}</header>`}
        <main>${content}</main>
      </body>
    </html>`.text;
}
