import type { User } from '#database/user/user.js';
import type { IncomingRequest } from '../authorize/incoming-request.js';
import { formTargets } from '../consent/destination.js';
import { html } from '../ui/html.js';
import type { Page } from '../ui/document.js';
import type { Words } from '../ui/i18n/words.js';
import { type Notice, noticeBox } from '../session/notice.js';
import { hiddenToken } from '../session/hidden-token.js';
import { loginAddress } from './login-address.js';
import { LOGIN_LIMITS, type LoginProblem } from './login.service.js';

export interface LoginForm {
  readonly words: Words;
  readonly cookie: string;
  /** Of the authorization request to go on with; may be empty. */
  readonly query: string;
  /** That request; null when there is none, or none that is good. Its user must show that it is still them. */
  readonly request: IncomingRequest | null;
  /** What was typed before, or what the application believes; a password is never shown again. */
  readonly username?: string;
  /** What was wrong with it. */
  readonly problem?: LoginProblem;
  /** What the user did just before; it gets the focus. */
  readonly notice?: Notice | null;
}

/** Asks who the user is. */
export function loginPage(form: LoginForm): Page {
  const { words, cookie, query, request, username = '', problem, notice = null } = form;
  const wrong = problem !== undefined && html`aria-invalid="true" aria-describedby="problem"`;
  const again = request?.user && isNamed(request.user, username) ? request.user : null;
  const focusUsername = notice === null && username === '';
  const focusPassword = notice === null && username !== '';
  return {
    words,
    title: words.text(problem === undefined ? 'login.title' : 'login.error_title'),
    // With consent given before, the way from this form leads to the application without another page.
    formTargets: request === null ? [] : formTargets(request.redirectUri),
    script: true,
    content: html`
      <h1>${words.text('login.title')}</h1>
      ${notice && noticeBox(words, notice)}
      ${request && html`<p>${words.rich('login.continue', { client: request.client.name })}</p>`}
      ${again && html`<p>${words.rich('login.again', { name: again.name })}</p>`}
      ${problem && html`<p role="alert" id="problem">${words.rich(problem.id, problem.values)}</p>`}
      <form method="post" action="${loginAddress(query)}">
        ${hiddenToken(cookie, 'login')}
        <label for="username">${words.text('login.username')}</label>
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
        <label for="password">${words.text('login.password')}</label>
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
          ${words.text('login.show_password')}
        </button>
        <button class="wide">${words.text('login.submit')}</button>
      </form>
    `,
  };
}

/** The application may believe that it is about somebody else (login_hint, OpenID Connect Core 3.1.2.1). */
function isNamed({ email, username }: User, login: string): boolean {
  return [email, username].some((name) => name.toLowerCase() === login.toLowerCase());
}
