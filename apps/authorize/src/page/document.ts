import { html, Html } from './html.js';
import { STYLESHEET } from './stylesheet.js';

/** One page for people: what stands in the browser's title, and what in the card. */
export interface Page {
  readonly title: string;
  readonly content: Html;
  /** Sources besides our own that its forms may lead to (CSP form-action). */
  readonly formTargets?: readonly string[];
}

const style = new Html(`<style>${STYLESHEET}</style>`);

/** The page as an HTML document; without scripts, and whole in one answer. */
export function document({ title, content }: Page): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${style}
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html>`.text;
}
