import { type Client, TESTING_GRANT_DAYS } from '#clients/client.js';
import type { User } from '#users/user.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { withQuery } from '../urls.js';
import {
  clientAvatar,
  clientLinks,
  destination,
  destinationOf,
  pictureOrigins,
  scopeText,
  userAvatar,
} from '../ui/components.js';
import { csrfField } from '#ui/browser-cookie.js';
import { html, type Html } from '#ui/html.js';
import type { MessageId } from '../ui/i18n/messages.js';
import { link } from '#ui/i18n.js';
import { type Translator } from '../ui/i18n/language.service.js';
import type { UserPage } from '../ui/user-page.responder.js';
import { checkboxOf, isUndecided, REQUIRED_SCOPES_FIELD, requiredScopes } from './interaction.js';
import { FORM_FIELD } from '../session/sent-form.js';
import type { RequestedScope, ValidatedRequest } from '../validated-request.js';

export interface ConsentForm {
  readonly translator: Translator;
  readonly request: Pick<ValidatedRequest, 'client' | 'scopes' | 'prompt'> & {
    /** Null if the decision redirects to a page of this service. */
    readonly redirectUri: string | null;
  };
  readonly user: Pick<User, 'name' | 'email' | 'avatarUrl' | 'timeZone'>;
  readonly cookie: string;
  /** From `newFormNonce`. */
  readonly nonce: string;
  readonly query: string;
  /** Target of the form; defaults to the authorization endpoint with `query`. */
  readonly action?: string;
  /** Shown in place of the redirect URI. */
  readonly notice?: Html;
  readonly product: string;
  readonly apis: readonly string[];
  readonly avatarOrigins: readonly string[];
  readonly nothingChosen?: boolean;
  /** Optional scopes that the user cleared on an earlier page of the request. */
  readonly cleared?: readonly string[];
}

/** Cancel comes before Allow, so that Enter in a checkbox presses Cancel. */
export function consentPage(form: ConsentForm): UserPage {
  const { translator, request, user, cookie, query, avatarOrigins, nothingChosen = false } = form;
  const { client, redirectUri, scopes } = request;
  // Lists the undecided scopes, or all scopes if none is undecided or prompt=consent was requested.
  const undecided = request.prompt.has('consent') ? scopes : scopes.filter(isUndecided);
  const listed = undecided.length === 0 ? scopes : undecided;
  const decided = scopes.filter((scope) => !listed.includes(scope));
  const optionalOnly = decided.length === 0 && !listed.some(({ required }) => required);
  return {
    translator,
    title: translator.text(nothingChosen ? 'consent.error_title' : 'consent.title', { client: client.name }),
    script: true,
    imageOrigins: pictureOrigins(user, avatarOrigins),
    content: html`
      <h1>${translator.rich('consent.heading', { client: client.name, product: form.product })}</h1>
      ${nothingChosen && html`<p role="alert" id="problem">${translator.text('consent.problem.nothing')}</p>`}
      ${party(form)}
      ${redirectUri === null ? form.notice : destinationOfClient(translator, client, redirectUri)}
      <div class="account">
        <div class="party">
          ${userAvatar(user, avatarOrigins)}
          <div>
            <p>${translator.rich('consent.account', { name: user.name })}</p>
            <p class="quiet"><bdi>${user.email}</bdi></p>
          </div>
        </div>
        <form method="post" action="${withQuery(ENDPOINTS.logout, query)}">
          ${csrfField(cookie, 'logout')}
          <button class="plain">${translator.text('consent.not_you')}</button>
        </form>
      </div>
      <form method="post" action="${form.action ?? withQuery(ENDPOINTS.authorize, query)}">
        ${csrfField(cookie, 'consent')}
        <input type="hidden" name="${FORM_FIELD}" value="${form.nonce}" />
        <input type="hidden" name="${REQUIRED_SCOPES_FIELD}" value="${requiredScopes(scopes)}" />
        ${requiredList(form, decided.length === 0 ? 'consent.may' : 'consent.may_new', listed)}
        ${checkboxes(form, optionalOnly ? 'consent.optional_only' : 'consent.optional', listed, nothingChosen)}
        ${decided.length > 0 && earlierDecisions(form, decided)}
        ${form.apis.length > 0 && html`<p>${translator.rich('consent.apis', { apis: hosts(form.apis) })}</p>`}
        <p class="quiet">${translator.rich('consent.undo', { a: link(ENDPOINTS.connectedApps) })}</p>
        <div class="choice">
          <button class="even" name="decision" value="deny">${translator.text('consent.cancel')}</button>
          <button class="even" name="decision" value="allow" data-waits>
            ${translator.text('consent.allow')}
          </button>
        </div>
      </form>
    `,
  };
}

function party({ translator, request: { client }, user, product }: ConsentForm): Html {
  const date = translator.date(client.createdAt, user.timeZone);
  return html`
    <div class="party">
      ${clientAvatar(client)}
      <div>
        <p>
          <strong><bdi>${client.name}</bdi></strong>
        </p>
        <p class="quiet">
          ${translator.rich(client.firstParty ? 'consent.first_party' : 'consent.third_party', { product })}<br />
          ${translator.rich('consent.registered', { date })}
        </p>
      </div>
    </div>
    ${client.stage === 'testing' && html`<p><strong>${translator.rich('consent.testing', { client: client.name, product, days: TESTING_GRANT_DAYS })}</strong></p>`}
    ${clientLinks(translator, client)}
  `;
}

function requiredList(
  { translator, request: { client } }: ConsentForm,
  heading: MessageId,
  scopes: readonly RequestedScope[],
): Html | false {
  const required = scopes.filter((scope) => scope.required);
  if (required.length === 0) return false;
  return html`
    <h2>${translator.rich(heading, { client: client.name })}</h2>
    <ul class="plain">
      ${required.map(({ scope }) => html`<li class="scope">${scopeText(translator, translator.scope(scope))}</li>`)}
    </ul>
  `;
}

/** Preselects only scopes that the user granted before, because leaving a box ticked is not consent. */
function checkboxes(
  { translator, request: { client }, cleared = [] }: ConsentForm,
  legend: MessageId,
  scopes: readonly RequestedScope[],
  focus = false,
): Html | false {
  const optional = scopes.filter((scope) => !scope.required);
  if (optional.length === 0) return false;
  return html`
    <fieldset ${focus && html`aria-describedby="problem"`}>
      <legend>${translator.rich(legend, { client: client.name })}</legend>
      ${optional.map(
        ({ scope, decision }, index) => html`
          <label class="scope">
            <input
              type="checkbox"
              name="${checkboxOf(scope)}"
              value="yes"
              ${decision === 'granted' && !cleared.includes(scope) && html`checked`}
              ${focus && index === 0 && html`autofocus`}
            />
            ${scopeText(translator, translator.scope(scope))}
          </label>
        `,
      )}
    </fieldset>
  `;
}

function earlierDecisions(form: ConsentForm, decided: readonly RequestedScope[]): Html {
  return html`
    <details>
      <summary>${form.translator.text('consent.before')}</summary>
      ${requiredList(form, 'consent.before_required', decided)}
      ${checkboxes(form, 'consent.before_optional', decided)}
    </details>
  `;
}

function hosts(apis: readonly string[]): string {
  return apis.map((api) => new URL(api).host).join(', ');
}

/** Warns about native applications with a metadata document, because any program can use the same document. */
function destinationOfClient(translator: Translator, { document }: Client, redirectUri: string): Html {
  return html`
    <p>${destination(translator, redirectUri)}</p>
    ${document !== null && destinationOf(redirectUri).kind === 'device' && html`<p><strong>${translator.text('consent.own_start')}</strong></p>`}
  `;
}
