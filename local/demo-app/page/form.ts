import { type Html, html } from './html.js';

/** A button that POSTs with the session's CSRF token. */
export function form(
  action: string,
  label: string,
  formToken: string,
  look: 'primary' | 'plain' = 'primary',
): Html {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="form_token" value="${formToken}" />
    <button class="${look}">${label}</button>
  </form>`;
}
