import type { Page } from '../page/document.js';
import { html } from '../page/html.js';
import { hiddenToken } from '../session/hidden-token.js';
import { loginAddress } from './login-address.js';
import { LOGIN_LIMITS } from './login.service.js';

export interface LoginForm {
  readonly cookie: string;
  /** Of the authorization request to go on with; may be empty. */
  readonly query: string;
  /** What was typed before; a password is never shown again. */
  readonly username?: string;
  /** What was wrong with it. */
  readonly problem?: string;
}

export function loginPage({ cookie, query, username = '', problem }: LoginForm): Page {
  const wrong = problem !== undefined && html`aria-invalid="true" aria-describedby="problem"`;
  const focusUsername = username === '';
  return {
    title: problem === undefined ? 'Log in' : 'Error: Log in',
    content: html`
      <h1>Log in</h1>
      ${problem !== undefined && html`<p role="alert" id="problem">${problem}</p>`}
      <form method="post" action="${loginAddress(query)}">
        ${hiddenToken(cookie, 'login')}
        <label for="username">E-mail or user name</label>
        <input
          id="username"
          name="username"
          value="${username}"
          autocomplete="username"
          autocapitalize="none"
          spellcheck="false"
          maxlength="${LOGIN_LIMITS.username}"
          required
          ${wrong}
          ${focusUsername && html`autofocus`}
        />
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          ${wrong}
          ${!focusUsername && html`autofocus`}
        />
        <button class="wide">Log in</button>
      </form>
    `,
  };
}
