import { ENDPOINTS } from '#oauth/endpoints.js';
import type { User } from '#database/user/user.js';
import type { IncomingRequest } from '../authorize/incoming-request.js';
import type { MessageId } from '../ui/i18n/catalogue.js';
import { scopeWords } from '../ui/i18n/scope-words.js';
import { link, type Words } from '../ui/i18n/words.js';
import { authorizeAddress, logoutAddress } from '../login/login-address.js';
import type { Page } from '../ui/document.js';
import { clientFace, personFace, pictureOrigins } from '../ui/face.js';
import { html, type Html } from '../ui/html.js';
import { hiddenToken } from '../session/hidden-token.js';
import { checkboxOf, STATED, statedScopes } from './consent-fields.js';
import { destinationOf, formTargets } from './destination.js';
import { type AskedScope, isOpen } from './remembered-consent.js';

export interface ConsentForm {
  readonly words: Words;
  readonly request: IncomingRequest;
  readonly user: User;
  readonly cookie: string;
  /** Of the authorization request; the form is sent to the very same one. */
  readonly query: string;
  /** What users know this service as. */
  readonly product: string;
  /** Where users' pictures may come from. */
  readonly avatarOrigins: readonly string[];
  /** Whether Allow was pressed with nothing chosen. */
  readonly nothingChosen?: boolean;
}

/**
 * Asks the user: who wants what, for which account, where that leads, and how it is undone. Cancel comes before Allow,
 * and so is what Enter in a checkbox presses: nothing is allowed by accident.
 */
export function consentPage(form: ConsentForm): Page {
  const { words, request, user, cookie, query, avatarOrigins, nothingChosen = false } = form;
  const { client, redirectUri, asked } = request;
  const { kind, place } = destinationOf(redirectUri);
  // Only what is new is asked; with nothing new, or when the application wants everything asked, all of it is.
  const open = request.prompt.has('consent') ? asked : asked.filter(isOpen);
  const [now, before] = open.length === 0 ? [asked, []] : [open, asked.filter((one) => !open.includes(one))];
  const alone = before.length === 0 && !now.some(({ required }) => required);
  return {
    words,
    title: words.text(nothingChosen ? 'consent.error_title' : 'consent.title', { client: client.name }),
    script: true,
    formTargets: formTargets(redirectUri),
    imageOrigins: pictureOrigins(user, avatarOrigins),
    content: html`
      <h1>${words.rich('consent.heading', { client: client.name })}</h1>
      ${nothingChosen && html`<p role="alert" id="problem">${words.text('consent.problem.nothing')}</p>`}
      ${party(form)}
      <p>${words.rich(`consent.goes_to.${kind}`, { place })}</p>
      <div class="account">
        <div class="party">
          ${personFace(user, avatarOrigins)}
          <div>
            <p>${words.rich('consent.account', { name: user.name })}</p>
            <p class="quiet"><bdi>${user.email}</bdi></p>
          </div>
        </div>
        <form method="post" action="${logoutAddress(query)}">
          ${hiddenToken(cookie, 'logout')}
          <button class="plain">${words.text('consent.not_you')}</button>
        </form>
      </div>
      <form method="post" action="${authorizeAddress(query)}">
        ${hiddenToken(cookie, 'consent')}
        <input type="hidden" name="${STATED}" value="${statedScopes(asked)}" />
        ${stated(words, before.length === 0 ? 'consent.may' : 'consent.may_new', now)}
        ${choices(words, alone ? 'consent.optional_only' : 'consent.optional', now, nothingChosen)}
        ${before.length > 0 && earlier(words, before)}
        <p class="quiet">${words.rich('consent.undo', { a: link(ENDPOINTS.connectedApps) })}</p>
        <div class="choice">
          <button class="even" name="decision" value="deny">${words.text('consent.cancel')}</button>
          <button class="even" name="decision" value="allow" data-waits>
            ${words.text('consent.allow')}
          </button>
        </div>
      </form>
    `,
  };
}

/** Who asks: what it looks like and is called, since when it is known here, and whether it is the product's own. */
function party({ words, request: { client }, user, product }: ConsentForm): Html {
  const date = words.date(client.createdAt, user.timeZone);
  return html`
    <div class="party">
      ${clientFace(client)}
      <div>
        <p>
          <strong><bdi>${client.name}</bdi></strong>
        </p>
        <p class="quiet">
          ${words.rich(client.firstParty ? 'consent.first_party' : 'consent.third_party', { product })}<br />
          ${words.rich('consent.registered', { date })}
        </p>
      </div>
    </div>
  `;
}

/** Required scopes, which are stated. */
function stated(words: Words, heading: MessageId, scopes: readonly AskedScope[]): Html | false {
  const required = scopes.filter((one) => one.required);
  if (required.length === 0) return false;
  return html`
    <h2>${words.text(heading)}</h2>
    <ul>
      ${required.map(({ scope }) => html`<li>${scopeWords(words, scope)}</li>`)}
    </ul>
  `;
}

/**
 * Optional scopes, each to tick. What was chosen before is chosen again; what is new is not: consent is what somebody
 * does, and nobody has by leaving a tick where it was.
 */
function choices(
  words: Words,
  legend: MessageId,
  scopes: readonly AskedScope[],
  focus = false,
): Html | false {
  const optional = scopes.filter((one) => !one.required);
  if (optional.length === 0) return false;
  return html`
    <fieldset ${focus && html`aria-describedby="problem"`}>
      <legend>${words.text(legend)}</legend>
      ${optional.map(
        ({ scope, earlier: decision }, index) => html`
          <label class="check">
            <input
              type="checkbox"
              name="${checkboxOf(scope)}"
              value="yes"
              ${decision === 'allowed' && html`checked`}
              ${focus && index === 0 && html`autofocus`}
            />
            <span>${scopeWords(words, scope)}</span>
          </label>
        `,
      )}
    </fieldset>
  `;
}

/** What the user decided before, out of the way, and to be changed by who wants to. */
function earlier(words: Words, before: readonly AskedScope[]): Html {
  return html`
    <details>
      <summary>${words.text('consent.before')}</summary>
      ${stated(words, 'consent.before_required', before)} ${choices(words, 'consent.before_optional', before)}
    </details>
  `;
}
