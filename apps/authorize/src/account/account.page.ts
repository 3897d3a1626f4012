import { ENDPOINTS } from '#oauth/endpoints.js';
import { LOCALES, type Locale } from '#oauth/locale.js';
import type { User } from '#database/user/user.js';
import type { Page } from '../ui/document.js';
import type { Words } from '../ui/i18n/words.js';
import { html } from '../ui/html.js';
import { personFace, pictureOrigins } from '../ui/face.js';
import { logoutAddress } from '../login/login-address.js';
import { type Notice, noticeBox } from '../session/notice.js';
import { hiddenToken } from '../session/hidden-token.js';

/** Each language in its own words, for who reads no other. */
const NAMES: Readonly<Record<Locale, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
  ar: 'العربية',
};

/** The choice of no language; a field without a value would count as absent. */
export const BROWSER_LANGUAGE = 'browser';

export interface AccountView {
  readonly words: Words;
  readonly user: User;
  readonly cookie: string;
  /** What a form has just done; null when none did. */
  readonly notice: Notice | null;
  /** Where users' pictures may come from. */
  readonly avatarOrigins: readonly string[];
}

/** The front page: who is logged in, what their account is connected to, and their settings. */
export function accountPage({ words, user, cookie, notice, avatarOrigins }: AccountView): Page {
  const option = (locale: Locale) => html`
    <option value="${locale}" lang="${locale}" ${user.locale === locale && html`selected`}>
      ${NAMES[locale]}
    </option>
  `;
  return {
    words,
    title: words.text('account.title'),
    imageOrigins: pictureOrigins(user, avatarOrigins),
    content: html`
      <h1>${words.text('account.title')}</h1>
      ${notice && noticeBox(words, notice)}
      <div class="party">
        ${personFace(user, avatarOrigins)}
        <div>
          <p><bdi>${user.name}</bdi></p>
          <p class="quiet"><bdi>${user.email}</bdi></p>
        </div>
      </div>
      <form method="post" action="${logoutAddress('')}" class="hinted">
        ${hiddenToken(cookie, 'logout')}
        <button class="plain" aria-describedby="switch">${words.text('account.switch')}</button>
        <p class="quiet" id="switch">${words.text('account.switch_hint')}</p>
      </form>
      <div class="hinted">
        <a class="button wide" href="${ENDPOINTS.connectedApps}" aria-describedby="apps"
          >${words.text('apps.title')}</a
        >
        <p class="quiet" id="apps">${words.text('account.apps_hint')}</p>
      </div>
      <form method="post" action="${ENDPOINTS.language}">
        ${hiddenToken(cookie, 'language')}
        <label for="locale">${words.text('account.language')}</label>
        <select id="locale" name="locale" autocomplete="language">
          <option value="${BROWSER_LANGUAGE}" ${user.locale === null && html`selected`}>
            ${words.text('account.language_browser')}
          </option>
          ${LOCALES.map(option)}
        </select>
        <button class="wide even">${words.text('account.language_save')}</button>
      </form>
      <hr />
      <form method="post" action="${logoutAddress('')}">
        ${hiddenToken(cookie, 'logout')}
        <button class="plain">${words.text('account.log_out')}</button>
      </form>
      <hr />
      <form method="post" action="${ENDPOINTS.logoutEverywhere}" class="hinted">
        ${hiddenToken(cookie, 'logout_everywhere')}
        <button class="plain" aria-describedby="everywhere">
          ${words.text('account.log_out_everywhere')}
        </button>
        <p class="quiet" id="everywhere">${words.text('account.log_out_everywhere_hint')}</p>
      </form>
    `,
  };
}
