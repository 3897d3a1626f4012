import { button, facts, hiddenFields, noteBox, postForm } from '#pages/components.js';
import type { ListedRequest } from '#clients/requests/client-request.store.js';
import type { OwnedSummary } from '#clients/owners/owned-client.store.js';
import type { Page } from '#pages/page.responder.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import type { Viewer } from '../developer.js';
import type { MessageId } from './i18n/messages.js';
import type { Translator } from './i18n/translator.js';

export function pathOf(clientId: string, ...rest: readonly string[]): string {
  return `/applications/${[clientId, ...rest].map(encodeURIComponent).join('/')}`;
}

/** Value with a button that copies it. The script shows the button; without scripts, a click selects the value. */
export function copyable({ translator }: Pick<Viewer, 'translator'>, id: string, value: string): Html {
  return html`<code class="copied" id="${id}">${value}</code>
    <button
      type="button"
      class="even"
      data-copies="${id}"
      data-done="${translator.text('copy.copied')}"
      hidden
    >
      ${translator.text('copy.copy')}
    </button>`;
}

export function timeOf(translator: Translator, time: Date | string | null): Fragment {
  if (time === null) return null;
  const date = new Date(time);
  return html`<time datetime="${date.toISOString()}">${translator.time(date)}</time>`;
}

/** Omits empty values. @param values by the names of the facts */
export function factsOf(
  translator: Translator,
  values: Readonly<Partial<Record<MessageId, Fragment>>>,
): Html {
  return facts(Object.entries(values).map(([name, value]) => [translator.text(name as MessageId), value]));
}

/** Marks an English text for screen readers (WCAG 2.2, 3.1.2). */
export function inEnglish({ locale }: Translator, text: Fragment): Fragment {
  return locale === 'en' ? text : html`<span lang="en" dir="ltr">${text}</span>`;
}

/** Link from a page of an application to the application. */
export function backLink({ clientId, name }: { readonly clientId: string; readonly name: string }): Html {
  return html`<p>
    <a href="${pathOf(clientId)}"><bdi>${name}</bdi></a>
  </p>`;
}

/** Notes that a redirect after a change may name in the query. */
const NOTES = {
  saved: 'request.saved',
  sent: 'messages.sent',
  changed: 'change.applied',
  applied: 'change.applied',
  proposed: 'change.proposed',
  revoked: 'secrets.revoked',
  deleted: 'delete.deleted',
  enabled: 'events.enabled_note',
  redelivered: 'events.redelivered',
  keys: 'keys.changed',
} as const satisfies Readonly<Record<string, MessageId>>;

export function noted(path: string, note: keyof typeof NOTES): string {
  return `${path}?note=${note}`;
}

/** Result of the last change, above the page to which the user returned. */
export function noteOf({ translator, note }: Viewer): Html | false {
  return (
    note !== null && Object.hasOwn(NOTES, note) && noteBox(translator.text(NOTES[note as keyof typeof NOTES]))
  );
}

export interface ConfirmView {
  readonly title: string;
  readonly text: Fragment;
  readonly path: string;
  readonly button: string;
  readonly back: string;
  readonly look?: 'danger' | '';
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

export function confirmPage({ translator, developer }: Viewer, view: ConfirmView): Page {
  const { title, text, path, back, look = 'danger', fields = [] } = view;
  return {
    title,
    section: '/',
    content: html`
      <p>${text}</p>
      ${postForm(
        developer,
        path,
        html`${hiddenFields(fields)}
          <div class="actions">
            ${button(view.button, look)}
            <a class="button even" href="${back}">${translator.text('cancel')}</a>
          </div>`,
      )}
    `,
  };
}

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
