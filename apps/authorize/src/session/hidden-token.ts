import { html, type Html } from '../ui/html.js';
import { CSRF_FIELD, csrfToken, type FormPurpose } from './csrf-token.js';

/** The hidden field that every form of ours carries. */
export function hiddenToken(cookie: string, purpose: FormPurpose): Html {
  return html`<input type="hidden" name="${CSRF_FIELD}" value="${csrfToken(cookie, purpose)}" />`;
}
