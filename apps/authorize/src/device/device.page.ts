import { displayedUserCode } from '#oauth/device-authorization.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { csrfField } from '#ui/browser-cookie.js';
import { html, type Html } from '#ui/html.js';
import type { MessageId } from '../ui/i18n/messages.js';
import type { Translator } from '../ui/i18n/language.service.js';
import type { UserPage } from '../ui/user-page.responder.js';
import type { PendingDevice } from './device.service.js';

export interface CodeProblem {
  readonly id: Extract<MessageId, `device.problem.${string}`>;
  readonly values?: Readonly<Record<string, number>>;
}

export interface CodeForm {
  readonly translator: Translator;
  readonly cookie: string;
  /** Code of `verification_uri_complete`, to compare with the device (RFC 8628 3.3.1). If null, the user types it. */
  readonly userCode: string | null;
  readonly submitted?: string;
  readonly problem?: CodeProblem;
}

export function codePage(form: CodeForm): UserPage {
  const { translator, cookie, userCode, problem } = form;
  return {
    translator,
    title: translator.text(problem === undefined ? 'device.title' : 'device.error_title'),
    content: html`
      <h1>${translator.text('device.title')}</h1>
      ${problem && html`<p role="alert" id="problem">${translator.text(problem.id, problem.values)}</p>`}
      <form method="post" action="${ENDPOINTS.device}">
        ${csrfField(cookie, 'device')}
        ${userCode === null ? codeInput(form) : codeToCompare(translator, userCode)}
        <p class="quiet">${translator.text('device.warning')}</p>
        <button class="wide">${translator.text('device.continue')}</button>
      </form>
      ${userCode !== null && html`<p><a class="alone" href="${ENDPOINTS.device}">${translator.text('device.other')}</a></p>`}
    `,
  };
}

function codeInput({ translator, submitted = '', problem }: CodeForm): Html {
  return html`
    <label for="user_code">${translator.text('device.code')}</label>
    <input
      id="user_code"
      name="user_code"
      value="${submitted}"
      autocomplete="off"
      autocapitalize="characters"
      spellcheck="false"
      dir="ltr"
      maxlength="30"
      required
      autofocus
      ${problem && html`aria-invalid="true" aria-describedby="problem"`}
    />
  `;
}

function codeToCompare(translator: Translator, userCode: string): Html {
  const shown = displayedUserCode(userCode);
  return html`
    <p>${translator.text('device.compare')}</p>
    <p>
      <strong><code>${shown}</code></strong>
    </p>
    <input type="hidden" name="user_code" value="${shown}" />
  `;
}

/** Shows the IP address and the code of the device, and the warning of RFC 8628 5.4. */
export function deviceNotice(
  translator: Translator,
  { address, userCode }: Pick<PendingDevice, 'address' | 'userCode'>,
): Html {
  const code = displayedUserCode(userCode);
  return html`
    <p>${translator.rich('device.from', { address: address ?? '?', code: html`<code>${code}</code>` })}</p>
    <p><strong>${translator.text('device.warning')}</strong></p>
  `;
}
