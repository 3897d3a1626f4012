import { Html, html } from './html.js';
import { STYLE } from './style.js';

/** A whole page around one card. */
export function layout(title: string, card: Html): string {
  // The style is not escaped: the Content-Security-Policy has the hash of its exact text.
  const style = new Html(`<style>${STYLE}</style>`);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Calendar Connect</title>
        ${style}
      </head>
      <body>
        <p class="brand">Calendar Connect</p>
        <main>${card}</main>
        <footer>Demo application of the authorization service</footer>
      </body>
    </html>`.text;
}
