import { html, unchanged } from '#ui/html.js';
import { destination, destinationOf } from './components.js';
import type { Translator } from './i18n/translator.js';

/**
 * Page after a form, in place of a redirect. Delays the button to a web application, because a second click while the
 * application exchanges the code would send the code twice, and the second exchange revokes the tokens.
 * @param application null for a page of this service or of a login provider
 */
export function continuationPage(translator: Translator, url: string, application: string | null) {
  const values = { client: application ?? '' };
  const id = application === null ? 'error.button.continue' : 'continuation.title';
  const isDelayed = application !== null && destinationOf(url).kind === 'site';
  return {
    translator,
    title: translator.text(id, values),
    continuesAt: url,
    content: html`
      <h1>${translator.rich(id, values)}</h1>
      ${application !== null && html`<p>${destination(translator, url)}</p>`}
      <div ${isDelayed && html`class="late"`}>
        <p>${translator.text('continuation.hint')}</p>
        <a class="button wide" href="${unchanged(url)}">${translator.text(id, values)}</a>
      </div>
    `,
  };
}
