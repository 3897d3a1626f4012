import type { User } from '#directory/user.js';
import type { Page } from '../page/document.js';
import { html } from '../page/html.js';
import { hiddenToken } from '../session/hidden-token.js';
import { logoutAddress } from './login-address.js';

/** The front page: who is logged in. */
export function accountPage({ name, email }: User, cookie: string): Page {
  return {
    title: 'You are logged in',
    content: html`
      <h1>You are logged in</h1>
      <p>as <bdi>${name}</bdi> (<bdi>${email}</bdi>).</p>
      <form method="post" action="${logoutAddress('')}">
        ${hiddenToken(cookie, 'logout')}
        <button class="wide">Log out</button>
      </form>
    `,
  };
}
