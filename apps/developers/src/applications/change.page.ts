import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { button, hiddenFields, postForm, problemBox, table } from '#pages/components.js';
import type { Form } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { html } from '#ui/html.js';
import {
  type Content,
  labelOf,
  LOGO_DATA,
  NO_PROBLEMS,
  type Problems,
  requestFields,
} from '../requests/request.form.js';
import type { Translator } from '../ui/i18n/translator.js';
import { pathOf } from '../ui/parts.js';
import type { Viewer } from '../developer.js';

export interface ChangeView extends Viewer {
  readonly client: OwnedClient;
  readonly content: Content;
  readonly catalogue: ScopeCatalogue;
  readonly version: string;
  readonly granted: readonly string[];
  readonly problems?: Problems;
}

export function changePage(view: ChangeView): Page {
  const { translator, developer, client, version, problems = NO_PROBLEMS } = view;
  return {
    title: translator.text('change.title', { name: client.name }),
    status: problems.size > 0 ? 400 : 200,
    section: '/',
    content: html`
      ${problems.size > 0 && problemBox([translator.text('request.problems')])}
      <p>${translator.text(client.stage === 'testing' ? 'change.intro_testing' : 'change.intro')}</p>
      ${postForm(
        developer,
        pathOf(client.clientId, 'change'),
        html`${hiddenFields([['version', version]])}
          ${requestFields(translator, { ...view, problems, hasKind: false, isLive: client.stage === 'live' })}
          <div class="actions">
            ${button(translator.text('change.review'))}
            <a class="button even" href="${pathOf(client.clientId)}">${translator.text('cancel')}</a>
          </div>`,
        'narrow',
        true,
      )}
    `,
  };
}

const comparedByText = (one: string, other: string): number => one.localeCompare(other);

export interface Difference {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/** Fields of two contents that differ. The reason for a change of a live application is not a field of it. */
export function differences(before: Content, after: Content): Difference[] {
  const shown = (value: unknown): string =>
    Array.isArray(value)
      ? value.map(String).toSorted(comparedByText).join('\n')
      : typeof value === 'string'
        ? value
        : '';
  return Object.keys(after)
    .filter((field) => !['reasons', 'application'].includes(field))
    .filter((field) => field !== 'purpose' || field in before)
    .map((field) => ({ field, before: shown(before[field]), after: shown(after[field]) }))
    .filter((change) => change.before !== change.after);
}

/** Shows the difference before it is sent. Hidden fields carry the input. */
export function differencePage(
  view: ChangeView & { readonly form: Form; readonly changes: readonly Difference[] },
): Page {
  const { translator, developer, client, form, changes, content } = view;
  const { logo } = content;
  return {
    title: translator.text('change.title', { name: client.name }),
    section: '/',
    content: html`
      ${differenceTable(translator, changes)}
      ${postForm(
        developer,
        pathOf(client.clientId, 'change'),
        html`${hiddenFields(form.input.filter(([name]) => name !== LOGO_DATA))}
          ${typeof logo === 'string' && hiddenFields([[LOGO_DATA, logo]])}
          <div class="actions">
            ${changes.length > 0 && html`<button name="action" value="send">${translator.text('change.send')}</button>`}
            <button class="even" name="action" value="edit">${translator.text('change.edit')}</button>
          </div>`,
        '',
        true,
      )}
    `,
  };
}

function differenceTable(translator: Translator, changes: readonly Difference[]) {
  return table(
    translator.text('change.difference'),
    translator.texts('change.field', 'change.old', 'change.new'),
    changes.map(({ field, before, after }) => [
      labelOf(translator, field),
      html`<del>${lines(field === 'logo' ? '' : before)}</del>`,
      html`<ins>${lines(field === 'logo' ? translator.text('change.new') : after)}</ins>`,
    ]),
    translator.text('change.none'),
  );
}

function lines(text: string) {
  return (text || '–').split('\n').map((line, at) => html`${at > 0 && html`<br />`}<bdi>${line}</bdi>`);
}
