import type { User } from '#users/user.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { LOCALES, type Locale } from '#oauth/locale.js';
import { flashBox, type FlashMessage, pictureOrigins, userAvatar } from '../ui/components.js';
import { csrfField } from '#ui/browser-cookie.js';
import { html } from '#ui/html.js';
import type { Translator } from '../ui/i18n/language.service.js';
import type { UserPage } from '../ui/user-page.responder.js';

const NAMES: Readonly<Record<Locale, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
  ar: 'العربية',
};

/** Form value that selects the language of the browser. An empty field would count as absent. */
export const BROWSER_LANGUAGE = 'browser';

export interface AccountView {
  readonly translator: Translator;
  readonly user: User;
  readonly cookie: string;
  readonly flash: FlashMessage | null;
  readonly avatarOrigins: readonly string[];
}

export function accountPage({ translator, user, cookie, flash, avatarOrigins }: AccountView): UserPage {
  const option = (locale: Locale) => html`
    <option value="${locale}" lang="${locale}" ${user.locale === locale && html`selected`}>
      ${NAMES[locale]}
    </option>
  `;
  const apps = translator.text('apps.title');
  return {
    translator,
    title: translator.text('account.title'),
    imageOrigins: pictureOrigins(user, avatarOrigins),
    content: html`
      <h1>${translator.text('account.title')}</h1>
      ${flash && flashBox(translator, flash)}
      <div class="party">
        ${userAvatar(user, avatarOrigins)}
        <div>
          <p><bdi>${user.name}</bdi></p>
          <p class="quiet"><bdi>${user.email}</bdi></p>
        </div>
      </div>
      <form method="post" action="${ENDPOINTS.logout}" class="hinted">
        ${csrfField(cookie, 'logout')}
        <button class="plain" aria-describedby="switch">${translator.text('account.switch')}</button>
        <p class="quiet" id="switch">${translator.text('account.switch_hint')}</p>
      </form>
      <div class="hinted">
        <a class="button wide" href="${ENDPOINTS.connectedApps}" aria-describedby="apps">${apps}</a>
        <p class="quiet" id="apps">${translator.text('account.apps_hint')}</p>
      </div>
      <form method="post" action="${ENDPOINTS.language}">
        ${csrfField(cookie, 'language')}
        <label for="locale">${translator.text('account.language')}</label>
        <select id="locale" name="locale" autocomplete="language">
          <option value="${BROWSER_LANGUAGE}" ${user.locale === null && html`selected`}>
            ${translator.text('account.language_browser')}
          </option>
          ${LOCALES.map(option)}
        </select>
        <button class="wide even">${translator.text('account.language_save')}</button>
      </form>
      <hr />
      <form method="post" action="${ENDPOINTS.logout}">
        ${csrfField(cookie, 'logout')}
        <button class="plain">${translator.text('account.log_out')}</button>
      </form>
      <hr />
      <form method="post" action="${ENDPOINTS.logoutEverywhere}" class="hinted">
        ${csrfField(cookie, 'logout_everywhere')}
        <button class="plain" aria-describedby="everywhere">
          ${translator.text('account.log_out_everywhere')}
        </button>
        <p class="quiet" id="everywhere">${translator.text('account.log_out_everywhere_hint')}</p>
      </form>
    `,
  };
}
