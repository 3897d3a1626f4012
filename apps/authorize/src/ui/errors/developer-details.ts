import type { OAuthError } from '#oauth/oauth-error.js';
import type { Words } from '../i18n/words.js';
import type { MessageId } from '../i18n/catalogue.js';
import { html, type Html } from '../html.js';

/** A hint for whoever builds or runs what failed. */
export interface Hint {
  readonly id: Extract<MessageId, `error.hint.${string}`>;
  readonly values?: Readonly<Record<string, string>>;
}

/**
 * What of an error's detail the page may show: what came in this very request, and is no secret. All else of it is
 * for the log alone, the registered redirect URIs above all.
 */
const SENT = ['client_id', 'redirect_uri', 'parameter'] as const;

/** Our tokens, codes and secrets, which people put where none belongs. */
const CREDENTIALS = /(s(?:ac|at|rt|cs)_)[\w-]{16,}/g;

/** A parameter's name as standards write them; what else came as a name may be anything. */
const NAME = /^[a-z_]{1,30}$/;
const MOST_NAMES = 20;

/**
 * The collapsed part of an error page, for the application's developer or this service's operator. The description is
 * the protocol's, in English in every language.
 *
 * @param query of the request as it came; only names are read from it
 * @param help what to look for
 */
export function developerDetails(words: Words, error: OAuthError, query: string, help: Html | false): Html {
  const { code, description, detail } = error;
  const sent = SENT.flatMap((name) => {
    const value = detail[name];
    return typeof value === 'string' ? [row(html`<code>${name}</code>`, value)] : [];
  });
  const names = [...new Set(new URLSearchParams(query).keys())].filter((name) => NAME.test(name));
  return html`
    <details>
      <summary>${words.text('error.details')}</summary>
      <dl>
        ${row(words.text('error.detail.code'), code)}
        ${typeof detail['check'] === 'string' && row(words.text('error.detail.check'), detail['check'])}
        <dt>${words.text('error.detail.description')}</dt>
        <dd lang="en" dir="ltr">${description}</dd>
        ${sent}
        ${names.length > 0 && row(words.text('error.detail.parameters'), names.slice(0, MOST_NAMES).join(' '))}
      </dl>
      ${help}
    </details>
  `;
}

/** Hints one below the other; nothing when there are none. */
export function hintList(words: Words, hints: readonly Hint[]): Html | false {
  if (hints.length === 0) return false;
  return html`<ul>
    ${hints.map(({ id, values }) => html`<li>${words.rich(id, values)}</li>`)}
  </ul>`;
}

function row(name: string | Html, value: string): Html {
  return html`<dt>${name}</dt>
    <dd><code>${value.replaceAll(CREDENTIALS, '$1…')}</code></dd>`;
}
