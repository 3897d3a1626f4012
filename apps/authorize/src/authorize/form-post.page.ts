import { html, unchanged } from '#ui/html.js';
import type { Translator } from '../ui/i18n/language.service.js';
import { destination } from '../ui/components.js';
import type { UserPage } from '../ui/user-page.responder.js';

export interface PostedResponse {
  /** An http or https URL. */
  readonly redirectUri: string;
  readonly clientName: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

/** Page whose form posts an authorization response to the redirect URI (Form Post Response Mode 2). */
export function formPostPage(
  translator: Translator,
  { redirectUri, clientName: client, parameters }: PostedResponse,
): UserPage {
  const title = translator.text('continuation.title', { client });
  return {
    translator,
    title,
    script: true,
    submitsElsewhere: true,
    content: html`
      <h1>${translator.rich('continuation.title', { client })}</h1>
      <p>${destination(translator, redirectUri)}</p>
      <p>${translator.text('continuation.hint')}</p>
      <form method="post" action="${unchanged(redirectUri)}" data-submits>
        ${parameters.map(([name, value]) => html`<input type="hidden" name="${name}" value="${unchanged(value)}" />`)}
        <button class="wide">${title}</button>
      </form>
    `,
  };
}
