import { type Fragment, html } from '#ui/html.js';
import type { Form } from '#pages/form.js';
import type { Operator } from '../operator.js';
import { button, hiddenFields, postForm, problemBox } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import type { Section } from './console-frame.js';

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
  /** Hidden fields, with the numbers and warnings that the operator confirms. */
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
            ${button(view.button, look)} <a class="button even" href="${back}">Cancel</a>
          </div>`,
      )}
    `,
  };
}

/** Returns the confirmation page again, unless the form confirms the fields that the page has now. */
export function unconfirmedPage(view: ConfirmView, form: Form): Page | null {
  const { fields = [], warnings = [] } = view;
  if (fields.every(([name, value]) => form.getAll(name).includes(value))) return null;
  const changed = 'The numbers have changed. Check them again.';
  return confirmPage({ ...view, status: 409, warnings: [changed, ...warnings] });
}
