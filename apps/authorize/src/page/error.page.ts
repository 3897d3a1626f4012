import type { OAuthError } from '#service/oauth/oauth-error.js';
import type { Page } from './document.js';
import { html } from './html.js';

interface Words {
  readonly title: string;
  /** What happened; absent where the error itself says it best. */
  readonly what?: string;
  /** What the person can do. */
  readonly advice: string;
}

const WORDS: Readonly<Record<number, Words>> = {
  400: {
    title: 'This request does not work',
    advice:
      'Go back to the application you came from and try again. If it happens again, tell the people who make that application, and pass on the reference below.',
  },
  403: {
    title: 'We could not be sure that this came from you',
    advice:
      'Open the page again and repeat what you were doing. If it happens again, allow cookies for this site.',
  },
  404: {
    title: 'There is nothing here',
    what: 'No page has this address.',
    advice: 'Check the address, or go back to the application you came from.',
  },
  405: {
    title: 'This address cannot be used like that',
    what: 'The page does not answer this kind of request.',
    advice: 'Go back to the application you came from and start again.',
  },
  413: {
    title: 'That was too much',
    what: 'The form held more than 64 KiB.',
    advice: 'Go back and enter less.',
  },
  415: {
    title: 'This address takes forms only',
    what: 'The request was not sent as application/x-www-form-urlencoded.',
    advice: 'Use the form on our page.',
  },
  503: {
    title: 'We cannot answer just now',
    what: 'A part of our service is busy or does not respond. Nothing was changed that you would have to undo.',
    advice: 'Wait a moment, then try again.',
  },
};

const OUR_FAULT: Words = {
  title: 'Something went wrong on our side',
  what: 'We could not finish this request.',
  advice: 'Try again. If it happens again, tell us, and pass on the reference below.',
};

/**
 * The page of an error: what happened, what to do, and the reference that leads the operator to the log.
 *
 * @param retry address of the page to open again; null when that could not help
 */
export function errorPage(error: OAuthError, reference: string, retry: string | null): Page {
  const { title, what, advice } = WORDS[error.status] ?? OUR_FAULT;
  return {
    title,
    content: html`
      <h1>${title}</h1>
      <p role="alert">${what ?? sentence(error.description)}</p>
      <p>${advice}</p>
      ${retry !== null && html`<p><a class="button" href="${retry}">Try again</a></p>`}
      <p class="quiet">Reference: <code>${reference}</code></p>
    `,
  };
}

function sentence(description: string): string {
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
}
