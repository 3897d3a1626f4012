import { form } from './form.js';
import { html } from './html.js';
import { layout } from './layout.js';

/** A message with a link or a button. */
export interface Message {
  title: string;
  text: string;
  /** The CSRF token, if the page has a Connect button. */
  connectAgain?: string;
}

export function messagePage({ title, text, connectAgain }: Message): string {
  return layout(
    title,
    html`<h1>${title}</h1>
      <p role="status">${text}</p>
      ${connectAgain === undefined ? undefined : form('/connect', 'Try again', connectAgain)}
      <p class="note"><a href="/">Back to home</a></p>`,
  );
}
