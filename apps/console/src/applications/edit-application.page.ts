import { type ClientView, isApiClient } from '#clients/operations/client.description.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { html, type Html } from '#ui/html.js';
import type { Operator } from '../operator.js';
import { button, facts, hiddenFields, otherProblems, postForm, problemBox } from '#pages/components.js';
import type { Form } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { phrase } from '#pages/format.js';
import { CONFIRMATIONS, formOf, hasOwnKeys, type Problems } from './application.form.js';
import { EDIT_GROUPS, EDIT_API_CLIENT_GROUPS, nameOf, valueText } from './application-fields.js';
import { pathOf } from './application.page.js';

export interface EditView {
  readonly operator: Operator;
  readonly client: ClientView;
  readonly form: Form;
  readonly problems: Problems;
  readonly catalogue: ScopeCatalogue;
}

export function editPage({ operator, client, form, problems, catalogue }: EditView): Page {
  const { client_id: id, name, version } = client;
  const groups = isApiClient(client) ? EDIT_API_CLIENT_GROUPS : EDIT_GROUPS;
  const fields = html`${groups.map(
    (group) =>
      html`<section>
        <h2>${group.title}</h2>
        ${group.render({ form, problems, catalogue })}
      </section>`,
  )}`;
  return {
    title: phrase('Edit {name}', { name }),
    status: problems.size > 0 ? 400 : 200,
    section: '/applications',
    content: html`
      ${otherProblems(problems, fields)}
      ${
        client.document_due_at &&
        html`<p>
          This application has a metadata document. Only its scopes and the rules for its requests can be
          changed here.
        </p>`
      }
      ${hasOwnKeys(client) && html`<p><a href="${pathOf(id, 'keys')}">Change its keys</a></p>`}
      ${postForm(
        operator,
        pathOf(id, 'edit'),
        html`
          <input type="hidden" name="version" value="${form.text('version') || version}" />
          ${fields}
          <div class="actions">
            ${button('Review changes')} <a class="button even" href="${pathOf(id)}">Cancel</a>
          </div>
        `,
      )}
    `,
  };
}

interface Difference {
  readonly name: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

function differencesOf(client: ClientView, form: Form): Difference[] {
  const before = formOf(client);
  const names = [...new Set([...before.input, ...form.input].map(([name]) => name))].filter(
    (name) => !['version', ...CONFIRMATIONS].includes(name),
  );
  return names.flatMap((name) => {
    const [old, now] = [before.lines(name), form.lines(name)];
    const removed = old.filter((line) => !now.includes(line));
    const added = now.filter((line) => !old.includes(line));
    return removed.length + added.length === 0 ? [] : [{ name, removed, added }];
  });
}

/** Returns true if the form differs from the application. */
export function changes(client: ClientView, form: Form): boolean {
  return differencesOf(client, form).length > 0;
}

export function differencePage({
  operator,
  client,
  form,
  problems,
  confirmations = [],
}: Omit<EditView, 'catalogue'> & {
  /** Confirmations that saving this difference gives, because the page shows their warnings. */
  readonly confirmations?: readonly string[];
}): Page {
  const { client_id: id, name } = client;
  const differences = differencesOf(client, form);
  const needsConfirmation = confirmations.length > 0;
  const fields = form.input.filter(([name]) => !CONFIRMATIONS.some((confirmation) => confirmation === name));
  return {
    title: phrase('Changes to {name}', { name }),
    status: problems.size > 0 ? 409 : 200,
    section: '/applications',
    content: html`
      ${problemBox([...problems.values()].flat())}
      ${
        differences.length === 0
          ? html`<p>No changes.</p>`
          : facts(differences.map((difference) => [nameOf(difference.name), changed(difference)]))
      }
      ${postForm(
        operator,
        pathOf(id, 'save'),
        html`
          ${hiddenFields([...fields, ...confirmations.map((name) => [name, 'true'] as const)])}
          <div class="actions">
            ${differences.length > 0 && button(needsConfirmation ? 'Save anyway' : 'Save', needsConfirmation ? 'danger' : '')}
            <a class="button even" href="${pathOf(id)}">Cancel</a>
          </div>
        `,
      )}
    `,
  };
}

function changed({ name, removed, added }: Difference): Html {
  return html`${removed.map((value) => html`<del>${valueText(name, value)}</del><br />`)}
  ${added.map((value) => html`<ins>${valueText(name, value)}</ins><br />`)}`;
}
