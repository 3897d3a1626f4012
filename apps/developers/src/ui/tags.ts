import type { ListedRequest } from '#clients/requests/client-request.store.js';
import type { OwnedSummary } from '#clients/owners/owned-client.store.js';
import { html, type Html } from '#ui/html.js';
import type { Translator } from './i18n/translator.js';

export function stageTag(
  translator: Translator,
  { stage, disabledAt }: Pick<OwnedSummary, 'stage' | 'disabledAt'>,
): Html {
  return html`<span class="tag ${disabledAt && 'bad'}"
    >${translator.text(disabledAt ? 'stage.disabled' : `stage.${stage}`)}</span
  >`;
}

export function statusTag(translator: Translator, status: ListedRequest['status']): Html {
  const needsAnswer = status === 'question' || status === 'rejected';
  return html`<span class="tag ${needsAnswer && 'bad'}">${translator.text(`status.${status}`)}</span>`;
}

export function requestName(translator: Translator, name: unknown): string {
  return typeof name === 'string' && name !== '' ? name : translator.text('request.untitled');
}
