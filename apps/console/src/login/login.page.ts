import { html } from '#ui/html.js';
import { forwardPage, type Page } from '#pages/page.responder.js';

/** @param provider URL of the log-out at the login provider; null if the provider has none */
export function loggedOutPage(provider: string | null): Page {
  if (provider === null) return endPage('You may still be logged in at the login provider.');
  return forwardPage(
    'You are logged out of the console',
    provider,
    'Continue to the log-out at the login provider',
  );
}

/** Page after the log-out at the login provider. */
export function returnedPage(): Page {
  return endPage('The session in the console has ended, and the login provider has finished its log-out.');
}

function endPage(text: string): Page {
  return {
    title: 'You are logged out',
    menu: false,
    content: html`
      <p>${text}</p>
      <p><a class="button" href="/">Log in again</a></p>
    `,
  };
}
