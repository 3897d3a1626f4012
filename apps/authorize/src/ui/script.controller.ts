import { createHash } from 'node:crypto';
import { Controller, Get, Header } from '@nestjs/common';
import { ApiOperation, type OperationDescription } from '#openapi/operation.js';
import { errorPages } from './page.openapi.js';

const SCRIPT_OPERATION: OperationDescription = {
  id: 'script',
  tag: 'Pages',
  summary: 'The script of the pages',
  responses: {
    200: {
      description: 'The script. Its URL contains a digest of its content.',
      content: { 'text/javascript': { schema: { type: 'string' } } },
    },
    ...errorPages(404),
  },
};

/** Minimum milliseconds between two submissions: longer than a double click, shorter than the wait before a retry. */
const ONCE_MS = 3_000;

/**
 * Delay in milliseconds that prevents double-clickjacking, in which another site closes its window between two clicks
 * and the second click lands on this page.
 */
const WAIT_MS = 500;

/**
 * The only script of the pages, which also work without scripts.
 * - A double click submits a form only once, because a second response would replace the first response and its code.
 * - `data-submits`: the form submits itself (OAuth 2.0 Form Post Response Mode).
 * - `data-waits`: the button does nothing for a moment after the page is shown or gets the focus.
 * - `data-shows`: the button shows the password. Submitting the form hides the password, so that browsers do not store
 *   it as plain text.
 */
export const SCRIPT = `'use strict';
for (const form of document.forms) {
  let sent = -Infinity;
  form.addEventListener('submit', (event) => {
    if (event.timeStamp - sent < ${ONCE_MS}) event.preventDefault();
    else sent = event.timeStamp;
  });
  window.addEventListener('pageshow', () => (sent = -Infinity));
}
for (const form of document.querySelectorAll('form[data-submits]')) form.requestSubmit();
for (const button of document.querySelectorAll('button[data-waits]')) {
  let timer;
  const wait = () => {
    button.ariaDisabled = 'true';
    clearTimeout(timer);
    timer = setTimeout(() => (button.ariaDisabled = null), ${WAIT_MS});
  };
  wait();
  button.addEventListener('click', (event) => button.ariaDisabled && event.preventDefault());
  window.addEventListener('pageshow', wait);
  window.addEventListener('focus', wait);
  document.addEventListener('visibilitychange', wait);
}
for (const button of document.querySelectorAll('button[data-shows]')) {
  const field = document.getElementById(button.dataset.shows);
  const show = (shown) => {
    field.type = shown ? 'text' : 'password';
    button.setAttribute('aria-pressed', String(shown));
  };
  button.hidden = false;
  button.addEventListener('click', () => show(field.type === 'password'));
  field.form.addEventListener('submit', () => show(false));
  window.addEventListener('pageshow', () => show(false));
}
`;

/** Contains a digest of the script, so that during a deployment no page loads the script of another version. */
export const SCRIPT_PATH = `/auth/script/${createHash('sha256').update(SCRIPT).digest('hex').slice(0, 16)}.js`;

/** Serves the script as a file, because the Content-Security-Policy does not allow inline code. */
@Controller()
export class ScriptController {
  @Get(SCRIPT_PATH)
  @ApiOperation(SCRIPT_OPERATION)
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  script(): string {
    return SCRIPT;
  }
}
