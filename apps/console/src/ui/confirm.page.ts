import { type Fragment, html } from '#ui/html.js';
import type { Operator } from '../operator.js';
import { button, hiddenFields, postForm, problemBox } from './components.js';
import type { Page, Section } from './page.responder.js';
import { t } from './text.js';

export interface ConfirmView {
  readonly operator: Operator;
  readonly section: Section;
  readonly title: string;
  readonly subject?: Fragment;
  readonly text: Fragment;
  readonly warnings?: readonly string[];
  readonly status?: number;
  readonly path: string;
  readonly button: string;
  readonly look?: 'danger' | '';
  readonly back: string;
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

export function confirmPage(view: ConfirmView): Page {
  const { operator, section, title, subject, text, path, look = 'danger', back, fields = [] } = view;
  const { warnings = [], status = 200 } = view;
  return {
    title,
    status,
    section,
    content: html`
      ${problemBox(warnings)} ${subject !== undefined && html`<p>${subject}</p>`}
      <p>${text}</p>
      ${postForm(
        operator,
        path,
        html`${hiddenFields(fields)}
          <div class="actions">
            ${button(view.button, look)} <a class="button even" href="${back}">${t('Cancel')}</a>
          </div>`,
      )}
    `,
  };
}
