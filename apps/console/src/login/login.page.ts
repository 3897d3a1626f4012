import { html } from '#ui/html.js';
import type { Page } from '../ui/page.responder.js';
import { t } from '../ui/text.js';

export function loggedOutPage(): Page {
  return {
    title: t('You are logged out'),
    menu: false,
    content: html`
      <p>${t('You may still be logged in at the login provider.')}</p>
      <p><a class="button" href="/">${t('Log in again')}</a></p>
    `,
  };
}

export function continuePage(login: string): Page {
  return {
    title: t('Log in to continue'),
    menu: false,
    content: html`<p><a class="button" href="${login}">${t('Continue to the login')}</a></p>`,
  };
}
