import { MAX_LOGO_BYTES } from '#clients/registration/logo.js';
import { APPLICATION_KINDS } from '#clients/requests/request-content.js';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { choices, codes, facts, FOCUS, linesField, otherProblems, textField } from '#pages/components.js';
import type { Form } from '#pages/form.js';
import type { Page } from '#pages/page.responder.js';
import { html, type Html } from '#ui/html.js';
import type { MessageId } from '../ui/i18n/messages.js';
import type { Translator } from '../ui/i18n/translator.js';

const LABELS = {
  name: 'field.name',
  purpose: 'field.purpose',
  clientUri: 'field.website',
  policyUri: 'field.policy',
  termsUri: 'field.terms',
  contacts: 'field.contact',
  logo: 'field.logo',
  application: 'field.kind',
  redirectUris: 'field.redirect_uris',
  scopes: 'field.scopes',
} as const satisfies Readonly<Record<string, MessageId>>;

type RequestField = keyof typeof LABELS;

export function labelOf(translator: Translator, field: string): string {
  return Object.hasOwn(LABELS, field) ? translator.text(LABELS[field as RequestField]) : field;
}

/** Problems by the name of a field in the form; the key '' holds problems of no field. */
export type Problems = ReadonlyMap<string, readonly string[]>;

export const NO_PROBLEMS: Problems = new Map();

function problemsOf(translator: Translator, { problems }: AdministrationError): Problems {
  const byField = new Map<string, string[]>();
  for (const problem of problems) {
    const [first] = problem.path;
    const field = first === 'reasons' ? `reason:${problem.path[1]}` : String(first ?? '');
    byField.set(field, [...(byField.get(field) ?? []), translator.problem(problem)]);
  }
  return byField;
}

/** Shows the form again with the problems of its fields. Another failure is not a problem of the form. */
export async function unlessInvalid<Result>(
  translator: Translator,
  step: Promise<Result>,
  shown: (problems: Problems) => Page,
): Promise<Result | Page> {
  try {
    return await step;
  } catch (error) {
    if (!(error instanceof AdministrationError) || error.kind !== 'invalid') throw error;
    return shown(problemsOf(translator, error));
  }
}

/** Hidden field with a logo in base64, between the page with the difference and the change. */
export const LOGO_DATA = 'logo_data';

/** Values of the fields of a request; a draft may have any. */
export type Content = Readonly<Record<string, unknown>>;

/**
 * Content of a request. A permission is requested by its reason.
 * @param before content whose logo stays without a new file, and whose kind stays without a choice
 */
export function contentOf(form: Form, before: Content = {}) {
  const logo = form.files.get('logo')?.toString('base64') ?? form.textOrNull(LOGO_DATA) ?? before['logo'];
  const kept = form.getAll('scope');
  const reasons = [...form]
    .filter(([name, value]) => name.startsWith('reason:') && value.trim() !== '')
    .map(([name, value]) => [name.slice('reason:'.length), value.trim()] as const);
  return {
    name: form.text('name'),
    purpose: form.text('purpose'),
    clientUri: form.textOrNull('clientUri'),
    policyUri: form.textOrNull('policyUri'),
    termsUri: form.textOrNull('termsUri'),
    contacts: form.lines('contacts'),
    application: form.textOrNull('application') ?? textOf(before['application']),
    redirectUris: form.lines('redirectUris'),
    scopes: [...kept, ...reasons.map(([scope]) => scope)],
    reasons: Object.fromEntries(reasons),
    ...(typeof logo === 'string' && { logo }),
  };
}

export interface FieldsView {
  readonly content: Content;
  readonly catalogue: ScopeCatalogue;
  readonly problems: Problems;
  /** False for a registered application, whose kind stays. */
  readonly hasKind: boolean;
  /** True for a change of a live application, whose purpose and terms were part of its first request. */
  readonly isLive?: boolean;
  /** Scopes that a live application has, which need no reason. */
  readonly granted?: readonly string[];
}

export function requestFields(translator: Translator, view: FieldsView): Html {
  const { content, catalogue, problems, hasKind, isLive = false, granted = [] } = view;
  const field = (name: RequestField, hint?: MessageId) => ({
    name,
    label: translator.text(LABELS[name]),
    value: textOf(content[name]),
    problems: problems.get(name) ?? [],
    ...(hint && { hint: translator.text(hint) }),
  });
  const optional = (name: RequestField, hint?: MessageId) => ({
    ...field(name, hint),
    label: translator.text('field.optional', { label: translator.text(LABELS[name]) }),
  });
  const purpose = isLive
    ? { ...field('purpose', 'field.change_reason_hint'), label: translator.text('field.change_reason') }
    : field('purpose', 'field.purpose_hint');
  const reasons = (content['reasons'] ?? {}) as Readonly<Record<string, unknown>>;
  const fields = html`
    ${textField(field('name', 'field.name_hint'))}
    ${linesField({ ...purpose, value: [textOf(content['purpose'])] })}
    ${textField(optional('clientUri', 'field.url_hint'))}
    ${textField(optional('policyUri', 'field.url_hint'))}
    ${!isLive && textField(optional('termsUri', 'field.url_hint'))}
    ${linesField({ ...optional('contacts', 'field.contact_hint'), value: listOf(content['contacts']) })}
    ${textField({ ...optional('logo'), type: 'file', value: '', hint: logoHint(translator, content) })}
    ${hasKind && kindChoices(translator, textOf(content['application']))}
    ${linesField({ ...field('redirectUris', 'field.redirect_hint'), value: listOf(content['redirectUris']) })}
    ${
      granted.length > 0 &&
      choices(
        'scope',
        translator.text('field.scopes'),
        'checkbox',
        granted.map((value) => ({
          value,
          label: translator.scopeText(value),
          chosen: listOf(content['scopes']).includes(value),
        })),
      )
    }
    <fieldset>
      <legend>${translator.text(granted.length > 0 ? 'field.new_scopes' : 'field.scopes')}</legend>
      <p class="hint">${translator.text('field.reason_hint')}</p>
      ${fieldsetProblem('scopes', problems)}
      ${catalogue.names
        .filter((scope) => !granted.includes(scope))
        .map((scope) =>
          textField({
            name: `reason:${scope}`,
            label: translator.scopeText(scope),
            value: textOf(reasons[scope]),
            problems: problems.get(`reason:${scope}`) ?? [],
          }),
        )}
    </fieldset>
  `;
  return html`${otherProblems(problems, fields)} ${fields}`;
}

function fieldsetProblem(name: RequestField, problems: Problems): Html | false {
  const texts = problems.get(name) ?? [];
  return (
    texts.length > 0 &&
    html`<p class="problem" id="${name}-problem" role="alert" tabindex="-1" ${FOCUS}>${texts.join(' ')}</p>`
  );
}

function logoHint(translator: Translator, { logo }: Content): string {
  const limits = translator.text('field.logo_hint', { kilobytes: MAX_LOGO_BYTES / 1024 });
  return typeof logo === 'string' ? `${limits} ${translator.text('field.logo_kept')}` : limits;
}

function kindChoices(translator: Translator, chosen: string): Html {
  return choices(
    'application',
    translator.text('field.kind'),
    'radio',
    APPLICATION_KINDS.map((value) => ({
      value,
      label: translator.text(`kind.${value}`),
      hint: translator.text(`kind.${value}_hint`),
      chosen: value === (chosen || 'server'),
    })),
  );
}

/** Content of a submitted request. */
export function contentFacts(
  translator: Translator,
  { kind, content }: { readonly kind: 'registration' | 'change'; readonly content: Content },
): Html {
  const reasons = (content['reasons'] ?? {}) as Readonly<Record<string, unknown>>;
  const added = [...listOf(content['redirectUris']), ...listOf(content['addRedirectUris'])];
  return facts([
    [translator.text('field.name'), bdi(content['name'])],
    [translator.text(kind === 'change' ? 'field.change_reason' : 'field.purpose'), bdi(content['purpose'])],
    [translator.text('field.website'), bdi(content['clientUri'])],
    [translator.text('field.policy'), bdi(content['policyUri'])],
    [translator.text('field.terms'), bdi(content['termsUri'])],
    [translator.text('field.contact'), codes(listOf(content['contacts']))],
    [translator.text('field.redirect_uris'), codes(added)],
    [
      translator.text('field.scopes'),
      Object.keys(reasons).length > 0 &&
        html`<ul class="plain">
          ${Object.entries(reasons).map(([scope, reason]) => html`<li>${translator.scopeText(scope)}: <bdi>${textOf(reason)}</bdi></li>`)}
        </ul>`,
    ],
  ]);
}

const bdi = (value: unknown): Html | false => textOf(value) !== '' && html`<bdi>${textOf(value)}</bdi>`;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
