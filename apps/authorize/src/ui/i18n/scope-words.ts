import { type Fragment, html } from '../html.js';
import { CATALOGUE, type MessageId } from './catalogue.js';
import type { Words } from './words.js';

/** What a scope lets an application do. One that has no words any more, in an old grant, is named as it is. */
export function scopeWords(words: Words, scope: string): Fragment {
  const id = `scope.${scope}`;
  return id in CATALOGUE ? words.text(id as MessageId) : html`<code>${scope}</code>`;
}
