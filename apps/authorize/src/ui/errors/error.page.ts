import { descriptionOf } from '#error-guide/error-description.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { LOCALES } from '#oauth/locale.js';
import type { OAuthError } from '#oauth/oauth-error.js';
import { redactCredentials } from '#platform/logging/request-log.js';
import type { MalformedRequestResponse, MalformedRequestStatus } from '#platform/http/malformed-request.js';
import type { Client } from '#clients/client.js';
import type { Brand } from '#ui/brand/brand.js';
import { clientLinks, clientParty } from '../components.js';
import { contentSecurityPolicy, html, type Html, PAGE_HEADERS } from '#ui/html.js';
import type { MessageId } from '../i18n/messages.js';
import { Translator } from '../i18n/language.service.js';
import { documentOf, type UserPage } from '../user-page.responder.js';
import { ERROR_KINDS, type ErrorKind } from './error-kind.js';

export interface Hint {
  readonly id: Extract<MessageId, `error.hint.${string}`>;
  readonly values?: Readonly<Record<string, string>>;
}

export interface ErrorReport {
  readonly translator: Translator;
  readonly error: OAuthError;
  readonly kind: ErrorKind;
  readonly values?: Readonly<Record<string, string>>;
  /** Request id of the log line; if null, the page shows no reference. */
  readonly reference: string | null;
  readonly client: Client | null;
  readonly query: string;
  /** URL of the button; null links to a page of the user. */
  readonly next: string | null;
  readonly hints?: readonly Hint[];
}

export function errorPage(report: ErrorReport): UserPage {
  const { translator, error, kind, values, reference, client, query, next, hints = [] } = report;
  const { advice } = ERROR_KINDS[kind];
  const party = ERROR_KINDS[kind].party ?? 'nobody';
  const title = translator.text(`error.${kind}.title`);
  const help = kind === 'redirect_mismatch' ? mismatchHelp(translator) : hintList(translator, hints);
  return {
    translator,
    title: translator.text('error.title', { title }),
    content: html`
      <h1>${title}</h1>
      <p role="alert">${translator.rich(`error.${kind}.what`, values)}</p>
      ${client && application(translator, client)}
      <p>${translator.text(`error.party.${party}`)} ${translator.text(`error.advice.${advice}`)}</p>
      <p>
        ${
          next === null
            ? ownPage(translator, kind)
            : html`<a class="button" href="${next}">${translator.text(buttonOf(kind))}</a>`
        }
      </p>
      ${
        reference !== null &&
        html`<p class="quiet">${translator.text('error.reference')} <code>${reference}</code></p>`
      }
      ${developerDetails(translator, error, query, help)}
    `,
  };
}

/** Link for users who cannot continue. Without a session, the account page redirects to the login page. */
function ownPage(translator: Translator, kind: ErrorKind): Html {
  return kind === 'client_disabled'
    ? html`<a class="alone" href="${ENDPOINTS.connectedApps}">${translator.text('apps.title')}</a>`
    : html`<a class="alone" href="${ENDPOINTS.account}">${translator.text('account.title')}</a>`;
}

/** Name and links of the application. Omits the links of an application that is disabled or was not reviewed. */
function application(translator: Translator, client: Client): Html {
  return html`
    ${clientParty(client)}
    ${client.disabledAt === null && client.stage === 'live' && clientLinks(translator, client)}
  `;
}

function buttonOf(
  kind: ErrorKind,
): 'error.button.continue' | 'error.button.start_again' | 'error.button.again' {
  const { advice } = ERROR_KINDS[kind];
  if (advice === 'continue') return 'error.button.continue';
  return advice === 'start_again' || advice === 'allow_cookies'
    ? 'error.button.start_again'
    : 'error.button.again';
}

/** Details that the request contains. Others, such as registered redirect URIs, are only logged; `check` is shown. */
const PUBLIC_DETAILS = ['client_id', 'redirect_uri', 'post_logout_redirect_uri', 'parameter'] as const;

/** Matches every standard parameter name. Other names may contain any text. */
const PARAMETER_NAME = /^[a-z_]{1,30}$/;
const MAX_NAMES = 20;

/** Shows the error_description in English, and only the parameter names of the query. */
export function developerDetails(
  translator: Translator,
  { code, reason, detail }: OAuthError,
  query: string,
  help: Html | false = false,
): Html {
  const { check } = detail;
  const sent = PUBLIC_DETAILS.flatMap((name) => {
    const value = detail[name];
    return typeof value === 'string' ? [row(html`<code>${name}</code>`, value)] : [];
  });
  const names = [...new Set(new URLSearchParams(query).keys())].filter((name) => PARAMETER_NAME.test(name));
  const shownNames = names.slice(0, MAX_NAMES).join(' ');
  return html`
    <details>
      <summary>${translator.text('error.details')}</summary>
      <dl>
        ${row(translator.text('error.detail.code'), code)}
        ${typeof check === 'string' && row(translator.text('error.detail.check'), check)}
        <dt>${translator.text('error.detail.description')}</dt>
        <dd lang="en" dir="ltr">${descriptionOf(reason)}</dd>
        ${sent} ${names.length > 0 && row(translator.text('error.detail.parameters'), shownNames)}
      </dl>
      ${help}
    </details>
  `;
}

function row(name: string | Html, value: string): Html {
  return html`<dt>${name}</dt>
    <dd><code>${redactCredentials(value)}</code></dd>`;
}

function hintList(translator: Translator, hints: readonly Hint[]): Html | false {
  if (hints.length === 0) return false;
  return html`<ul>
    ${hints.map(({ id, values }) => html`<li>${translator.rich(id, values)}</li>`)}
  </ul>`;
}

const MISMATCH_CAUSES: readonly Hint[] = [
  { id: 'error.hint.slash' },
  { id: 'error.hint.scheme' },
  { id: 'error.hint.port' },
  { id: 'error.hint.encoding' },
];

/** Explains a redirect URI mismatch without the registered redirect URIs, which are not public. */
function mismatchHelp(translator: Translator): Html {
  const show = html`<code>client show</code>`;
  // On a narrow screen, the line breaks before the option and not between its hyphens.
  const add = html`<code>client update <span>--add-redirect-uri</span></code>`;
  return html`
    <h2>${translator.text('error.causes')}</h2>
    ${hintList(translator, MISMATCH_CAUSES)}
    <p>${translator.rich('error.registered', { show, add })}</p>
  `;
}

const MALFORMED: Readonly<Record<MalformedRequestStatus, string>> = {
  400: 'We could not read the request that your browser sent.',
  408: 'Your browser took too long to send the request. Your connection may be very slow.',
  431: 'The link that brought you here is too long, or your browser stores too many cookies for this site.',
};

/** Response to a request that Node cannot parse. The user's language is unknown, so the page is in English. */
export function malformedRequestPage(status: MalformedRequestStatus, brand: Brand): MalformedRequestResponse {
  const translator = new Translator(LOCALES[0]);
  const page: UserPage = {
    translator,
    title: 'Error: Bad request',
    content: html`
      <h1>Bad request</h1>
      <p role="alert">${MALFORMED[status]}</p>
      <p>Go back to the application and try again. If this keeps happening, contact its developer.</p>
      <p><a class="alone" href="${ENDPOINTS.account}">${translator.text('account.title')}</a></p>
    `,
  };
  return {
    headers: {
      ...PAGE_HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': page.translator.locale,
      'Content-Security-Policy': contentSecurityPolicy(page, brand.styleSource),
    },
    body: documentOf(page, brand),
  };
}
