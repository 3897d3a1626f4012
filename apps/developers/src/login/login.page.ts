import type { Page } from '#pages/page.responder.js';
import { html } from '#ui/html.js';
import type { Translator } from '../ui/i18n/translator.js';

/** @param provider URL of the login */
export function loginPage(translator: Translator, provider: string): Page {
  return {
    title: translator.text('login.title'),
    menu: false,
    next: provider,
    content: html`<p><a class="button" href="${provider}">${translator.text('login.continue')}</a></p>`,
  };
}

/** @param provider URL of the log-out at the provider; null if there is none, or the log-out is complete */
export function loggedOutPage(translator: Translator, provider: string | null): Page {
  return {
    title: translator.text('logout.title'),
    menu: false,
    ...(provider !== null && { next: provider }),
    content:
      provider === null
        ? html`<p><a class="button" href="/">${translator.text('logout.again')}</a></p>`
        : html`<p><a class="button" href="${provider}">${translator.text('logout.continue')}</a></p>`,
  };
}
