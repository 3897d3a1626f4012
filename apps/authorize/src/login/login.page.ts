import type { User } from '#users/user.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { withQuery } from '../urls.js';
import type { ValidatedRequest } from '../validated-request.js';
import { flashBox, type FlashMessage } from '../ui/components.js';
import { csrfField } from '#ui/browser-cookie.js';
import { html } from '#ui/html.js';
import type { Translator } from '../ui/i18n/language.service.js';
import type { UserPage } from '../ui/user-page.responder.js';
import { LOGIN_LIMITS, type LoginProblem } from './login.service.js';

export interface LoginForm {
  readonly translator: Translator;
  readonly cookie: string;
  readonly query: string;
  /** Null without a valid request in the query. If the request has a user, it needs a new login despite the session. */
  readonly request: ValidatedRequest | null;
  /** Submitted user name, the login_hint, or the user's e-mail address. The password is never shown again. */
  readonly username?: string;
  readonly problem?: LoginProblem;
  readonly flash?: FlashMessage | null;
}

export function loginPage(form: LoginForm): UserPage {
  const { translator, cookie, query, request, username = '', problem, flash = null } = form;
  const wrong = problem !== undefined && html`aria-invalid="true" aria-describedby="problem"`;
  const confirming = request?.user && isNamed(request.user, username) ? request.user : null;
  const focusUsername = flash === null && username === '';
  const focusPassword = flash === null && username !== '';
  return {
    translator,
    title: translator.text(problem === undefined ? 'login.title' : 'login.error_title'),
    script: true,
    content: html`
      <h1>${translator.text('login.title')}</h1>
      ${flash && flashBox(translator, flash)}
      ${request && html`<p>${translator.rich('login.continue', { client: request.client.name })}</p>`}
      ${confirming && html`<p>${translator.rich('login.again', { name: confirming.name })}</p>`}
      ${problem && html`<p role="alert" id="problem">${translator.rich(problem.id, problem.values)}</p>`}
      <form method="post" action="${withQuery(ENDPOINTS.login, query)}">
        ${csrfField(cookie, 'login')}
        <label for="username">${translator.text('login.username')}</label>
        <input
          id="username"
          name="username"
          value="${username}"
          autocomplete="username"
          autocapitalize="none"
          spellcheck="false"
          dir="auto"
          maxlength="${LOGIN_LIMITS.username}"
          required
          ${wrong}
          ${focusUsername && html`autofocus`}
        />
        <label for="password">${translator.text('login.password')}</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          ${wrong}
          ${focusPassword && html`autofocus`}
        />
        <button class="plain shows" type="button" data-shows="password" aria-pressed="false" hidden>
          ${translator.text('login.show_password')}
        </button>
        <button class="wide">${translator.text('login.submit')}</button>
      </form>
    `,
  };
}

/** Returns true if the login is the e-mail address or the user name of the user. */
function isNamed({ email, username }: User, login: string): boolean {
  return [email, username].some((name) => name.toLowerCase() === login.toLowerCase());
}
