import { createHash } from 'node:crypto';

/** For how long a form that was sent is not sent again: a double click is over then, and a lost answer is not yet. */
const ONCE_MS = 3_000;

/**
 * For how long a button that gives something away waits when its page comes into view. A page of somebody else's can
 * have a person double-click on it and be gone by the second click, which then falls on the window below.
 * It can be reached with the keyboard meanwhile.
 */
const WAIT_MS = 500;

/**
 * All the script there is. A double click on a button sends its form once: the answer to the second would take the
 * place of the first, and with it the code. And it reveals the button that shows the password, which would do nothing
 * without it; what was shown is hidden again before the form is sent, so that browsers do not keep it as plain text.
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

/** Named by its content: two versions of the app side by side do not mix page and script. */
export const SCRIPT_PATH = `/auth/script/${createHash('sha256').update(SCRIPT).digest('hex').slice(0, 16)}.js`;
