import type { RegisteredClient } from '#clients/operations/registered-client.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { html, type Html } from '#ui/html.js';
import type { Operator } from '../operator.js';
import {
  button,
  copyable,
  facts,
  hiddenFields,
  notices,
  otherProblems,
  postForm,
  textField,
} from '#pages/components.js';
import type { Form } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { phrase } from '#pages/format.js';
import { lines } from '../ui/console-components.js';
import { labelOf, type Problems } from './application.form.js';
import { CREATE_STEPS, inputsOf, nameOf, valueText } from './application-fields.js';
import { pathOf } from './application.page.js';

export interface CreateView {
  readonly operator: Operator;
  readonly form: Form;
  readonly problems: Problems;
  readonly catalogue: ScopeCatalogue;
  readonly step: number;
}

/** Page of one step. Hidden fields carry the input of other steps, so that nothing is stored before the end. */
export function createPage({ operator, form, problems, catalogue, step }: CreateView): Page {
  const group = CREATE_STEPS[step] ?? CREATE_STEPS[0];
  if (!group) throw new Error('there are no steps');
  const content = group.render({ form, problems, catalogue });
  const isLast = step === CREATE_STEPS.length - 1;
  // Hides problems of later steps, which the operator has not reached.
  const answered = new Map(
    [...problems].filter(([name]) => isLast || name === '' || group.fields.includes(name)),
  );
  return {
    title: 'New application',
    status: problems.size > 0 ? 400 : 200,
    section: '/applications',
    content: html`
      <p>${stepName(step, group.title)}</p>
      ${otherProblems(answered, content)}
      ${postForm(
        operator,
        '/applications/new',
        html`
          <input type="hidden" name="step" value="${step}" />
          ${hiddenFields(carried(form, content))} ${content}
          <div class="actions">${button('Next')} ${step > 0 && goTo(step - 1, 'Back')}</div>
        `,
      )}
      ${step === 0 && documentForm({ operator, form, problems })}
    `,
  };
}

function stepName(step: number, name: string): string {
  return phrase('Step {step} of {steps}: {name}', { step: step + 1, steps: CREATE_STEPS.length + 1, name });
}

function goTo(step: number, text: string): Html {
  return html`<button class="even" name="go" value="${step}" formnovalidate>${text}</button>`;
}

/** Shows what will be created. Hidden fields carry the input. */
export function summaryPage({ operator, form }: Pick<CreateView, 'operator' | 'form'>): Page {
  const step = CREATE_STEPS.length;
  return {
    title: 'New application',
    section: '/applications',
    content: html`
      <p>${stepName(step, 'Check and create')}</p>
      ${postForm(
        operator,
        '/applications/new',
        html`
          <input type="hidden" name="step" value="${step}" />
          ${hiddenFields(form.input.filter(([name]) => !NOT_CARRIED.includes(name)))}
          ${CREATE_STEPS.map((group, at) => summary(group, at, form))}
          <div class="actions">${button('Create the application')} ${goTo(step - 1, 'Back')}</div>
        `,
        '',
      )}
    `,
  };
}

function summary(group: (typeof CREATE_STEPS)[number], step: number, form: Form): Html {
  return html`<section>
    <h2>${group.title}</h2>
    ${facts(inputsOf(group, form).map(([name, value]) => [nameOf(name), value !== '' && lines(valueText(name, value))]))}
    <div class="actions">${goTo(step, phrase('Change “{name}”', { name: group.title }))}</div>
  </section>`;
}

function documentForm({
  operator,
  form,
  problems,
}: Pick<CreateView, 'operator' | 'form' | 'problems'>): Html {
  const field = textField({
    name: 'metadataUrl',
    label: labelOf('metadataUrl'),
    value: form.text('metadataUrl'),
    hint: 'This URL is the client ID. The document contains everything else.',
    required: true,
    problems: problems.get('metadataUrl') ?? [],
  });
  return html`<section>
    <h2>Application with a metadata document</h2>
    ${postForm(
      operator,
      '/applications/new',
      html`${field}
        <div class="actions">${button('Register the application', 'even')}</div>`,
    )}
  </section>`;
}

const NOT_CARRIED = ['step', 'go', 'metadataUrl'];

function carried(form: Form, shown: Html): [name: string, value: string][] {
  const isShown = (name: string) => shown.text.includes(`name="${name}"`);
  return form.input.filter(([name]) => !NOT_CARRIED.includes(name) && !isShown(name));
}

/** The only page that shows the secret of a new application. */
export function createdPage(name: string, created: RegisteredClient, warnings: readonly string[]): Page {
  const { client_id: id, client_secret: secret } = created;
  const code = (value: string | null | undefined) => value && html`<code>${value}</code>`;
  return {
    title: phrase('{name} is registered', { name }),
    status: 201,
    section: '/applications',
    content: html`
      ${notices({ warnings })}
      <p>Give these to the owner of the application.</p>
      ${facts([
        ['Client ID', copyable('client-id', id)],
        ['Client secret', secret !== null && copyable('secret', secret)],
        ['Authorization URL', code(created.authorization_url)],
        ['Token URL', code(created.token_url)],
        ['Refresh URL', code(created.refresh_url)],
        ['Pushed authorization request URL', code(created.par_url)],
        ['Assertion audience', code(created.assertion_audience)],
      ])}
      ${secret !== null && html`<p role="status">The secret is shown only once, because the service stores only its hash.</p>`}
      <div class="actions">
        <a class="button" href="${pathOf(id, 'handover')}">Instructions for the owner</a>
        <a class="button even" href="${pathOf(id)}">Go to the application</a>
      </div>
    `,
  };
}
