import { html, type Html, unchanged } from './html.js';

/**
 * Element of `<head>` that continues at the URL, in place of a redirect after a form. Chromium applies the `form-action`
 * of a page to every redirect that follows its forms, including redirects of other sites, and blocks a redirect without
 * a message. The response to a form must therefore be a page. Browsers replace this page in their history.
 */
export function refreshTo(url: string): Html {
  return html`<meta http-equiv="refresh" content="0; url=${unchanged(url)}" />`;
}
