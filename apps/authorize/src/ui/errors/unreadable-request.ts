import { LOCALES } from '#oauth/locale.js';
import type { UnreadableAnswer, UnreadableStatus } from '#platform/http/answer-unreadable.js';
import { Words } from '../i18n/words.js';
import { contentSecurityPolicy } from '../content-security-policy.js';
import { document } from '../document.js';
import { html } from '../html.js';
import { PAGE_HEADERS } from '../page-headers.js';

const WHAT: Readonly<Record<UnreadableStatus, string>> = {
  400: 'Your browser’s request did not arrive in a form that we can read.',
  408: 'Your browser’s request did not arrive in time. The connection may be very slow.',
  431: 'The address that brought you here is too long, or your browser keeps too many cookies for this site.',
};

/** The page for what Node could not read as a request. Its language is not known either, so it is in English. */
export function unreadablePage(status: UnreadableStatus): UnreadableAnswer {
  return {
    headers: {
      ...PAGE_HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': LOCALES[0],
      'Content-Security-Policy': contentSecurityPolicy(),
    },
    body: page(status),
  };
}

function page(status: UnreadableStatus): string {
  return document(
    {
      words: new Words(LOCALES[0]),
      title: 'Error: This request does not work',
      content: html`
        <h1>This request does not work</h1>
        <p role="alert">${WHAT[status]}</p>
        <p>Go back to the application you came from and try again. If it happens again, tell its makers.</p>
      `,
    },
    '',
  );
}
