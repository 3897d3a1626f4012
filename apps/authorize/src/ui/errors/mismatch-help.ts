import type { Words } from '../i18n/words.js';
import { html, type Html } from '../html.js';
import { type Hint, hintList } from './developer-details.js';

/** What whoever registers redirect URIs gets wrong, most often first. */
const CAUSES: readonly Hint[] = [
  { id: 'error.hint.slash' },
  { id: 'error.hint.scheme' },
  { id: 'error.hint.port' },
  { id: 'error.hint.encoding' },
];

/** For whoever has to find out why a redirect URI is not a registered one. The page itself must not name those. */
export function mismatchHelp(words: Words): Html {
  const show = html`<code>client show</code>`;
  // A narrow screen breaks the line before the option, not between its hyphens.
  const add = html`<code>client update <span>--add-redirect-uri</span></code>`;
  return html`
    <h2>${words.text('error.causes')}</h2>
    ${hintList(words, CAUSES)}
    <p>${words.rich('error.registered', { show, add })}</p>
  `;
}
