import { form } from './form.js';
import { html } from './html.js';
import { layout } from './layout.js';

/** One thing to tell a person, and a way on. */
export interface Message {
  title: string;
  text: string;
  /** The form token, when the way on is to connect at once. */
  connectAgain?: string;
}

export function messagePage({ title, text, connectAgain }: Message): string {
  return layout(
    title,
    html`<h1>${title}</h1>
      <p role="status">${text}</p>
      ${connectAgain === undefined ? undefined : form('/connect', 'Try again', connectAgain)}
      <p class="note"><a href="/">Back to the start</a></p>`,
  );
}
