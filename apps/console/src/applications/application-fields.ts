import type { ScopeCatalogue } from '#oauth/scope.js';
import { type ClientFlag, INITIAL_FLAGS, mapFlags } from '#clients/client-flags.js';
import { html, type Html } from '#ui/html.js';
import { choices, linesField, type Option, selectField, textField } from '#pages/components.js';
import type { Form } from '#pages/form.js';
import { phrase } from '#pages/format.js';
import { FLAG_TEXTS, kindOf, labelOf, type Problems } from './application.form.js';

interface Group {
  readonly title: string;
  readonly fields: readonly string[];
  readonly render: (view: GroupView) => Html;
}

interface GroupView {
  readonly form: Form;
  readonly problems: Problems;
  readonly catalogue: ScopeCatalogue;
}

const fieldOf = ({ form, problems }: GroupView, name: string) => ({
  name,
  label: labelOf(name),
  value: form.text(name),
  problems: problems.get(name) ?? [],
});

const text = (view: GroupView, name: string, hint: string, required = false): Html =>
  textField({ ...fieldOf(view, name), hint, required });

const lines = (view: GroupView, name: string, hint: string, required = false): Html =>
  linesField({ ...fieldOf(view, name), value: view.form.lines(name), hint, required });

/** Texts shown for values, by field. */
const TEXTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  deviceGrant: {
    true: 'Users enter a code that the device shows (RFC 8628). Redirect URIs are optional.',
    false: 'No',
  },
  ...FLAG_TEXTS,
  kind: {
    server: 'On a server',
    keys: 'On a server, with its own keys',
    public: 'In a browser, or on a phone or computer',
  },
  profile: { oauth: 'OAuth 2.0 and OpenID Connect', fapi2: 'FAPI 2.0' },
  subject: {
    public: 'The same for every application',
    pairwise: 'Different for each site (pairwise)',
  },
  scope: {
    '': 'Not allowed',
    required: 'Allowed',
    optional: 'Allowed, but users can decline it',
  },
};

/** Returns the input field of the operation that a field of a form sets. */
function inputOf(name: string): string {
  if (name === 'kind') return 'type';
  return name.startsWith('scope:') ? 'scopes' : name;
}

export function nameOf(name: string): string {
  const label = labelOf(inputOf(name));
  return name.startsWith('scope:') ? `${label}: ${name.slice('scope:'.length)}` : label;
}

export function inputsOf({ fields }: Group, form: Form): [name: string, value: string][] {
  return form.input.filter(([name]) => fields.includes(inputOf(name)));
}

/** @param name of a field; scopes have fields like `scope:profile:read` */
export function valueText(name: string, value: string): string {
  const field = name.startsWith('scope:') ? 'scope' : name;
  const texts = Object.hasOwn(TEXTS, field) ? TEXTS[field] : undefined;
  return (texts && Object.hasOwn(texts, value) ? texts[value] : undefined) ?? value;
}

const options = (name: string, ...values: readonly string[]): Option[] =>
  values.map((value) => ({ value, text: valueText(name, value) }));

const yesOrNo = (form: Form, name: string, fallback: string): Html =>
  choices(
    name,
    labelOf(name),
    'radio',
    ['true', 'false'].map((value) => ({
      value,
      label: valueText(name, value),
      chosen: (form.text(name) || fallback) === value,
    })),
  );

const identity = (title: string, nameHint: string, clientUriHint: string): Group => ({
  title,
  fields: ['metadataUrl', 'name', 'clientUri', 'policyUri', 'contacts'],
  render: (view) => html`
    ${text(view, 'name', nameHint, true)} ${text(view, 'clientUri', clientUriHint)}
    ${text(view, 'policyUri', 'Optional. An https URL.')}
    ${lines(view, 'contacts', 'Optional. Email addresses or https URLs of the developer, one per line.')}
  `,
});

const IDENTITY = identity(
  'About the application',
  'Shown to users on the consent page.',
  'Optional. An https URL that helps users decide.',
);

/** Hints for an API client, which has no users. */
const API_CLIENT_IDENTITY = identity(
  'About the API client',
  'Shown in the audit trail.',
  'Optional. An https URL.',
);

const KIND: Group = {
  title: 'Where it runs',
  fields: ['type', 'jwks', 'jwksUri'],
  render: (view) => {
    const kind = kindOf(view.form);
    return html`
      ${choices('kind', labelOf('type'), 'radio', [
        {
          value: 'server',
          label: valueText('kind', 'server'),
          hint: 'Authenticates with a secret, which is shown once.',
          chosen: kind === 'server',
        },
        {
          value: 'keys',
          label: valueText('kind', 'keys'),
          hint: 'Signs assertions with its private key (private_key_jwt). It has no secret.',
          chosen: kind === 'keys',
        },
        {
          value: 'public',
          label: valueText('kind', 'public'),
          hint: 'Cannot keep a secret. It uses PKCE instead.',
          chosen: kind === 'public',
        },
      ])}
      ${text(view, 'jwksUri', 'Only with its own keys: the https URL of its JWK Set.')}
      ${lines(view, 'jwks', 'Only with its own keys, instead of the URL: the JWK Set.')}
    `;
  },
};

const ADDRESSES: Group = {
  title: 'URLs',
  fields: ['redirectUris', 'privateSchemes', 'deviceGrant', 'postLogoutRedirectUris', 'backchannelLogoutUri'],
  render: (view) => html`
    ${lines(view, 'redirectUris', 'Where users are redirected with the code, one per line. They must match exactly.')}
    ${lines(
      view,
      'privateSchemes',
      'Only for an application whose maker has fixed the callback, one scheme per line, such as “cursor”. Any program on a user’s device can register the same scheme and receive the codes. The application must be public and use PKCE, and users are asked every time.',
    )}
    ${yesOrNo(view.form, 'deviceGrant', 'false')}
    ${lines(view, 'postLogoutRedirectUris', 'Optional. Where users can be redirected after logging out, one per line.')}
    ${text(view, 'backchannelLogoutUri', 'Optional. Receives a signed token when a user’s session ends.')}
  `,
};

const scopeField = (name: string, value: string, hint: string, ...more: readonly string[]): Html =>
  selectField(
    { name: `scope:${name}`, label: name, value, hint },
    options('scope:', '', 'required', ...more),
  );

const SCOPES: Group = {
  title: 'Permissions',
  fields: ['scopes', 'optionalScopes', 'firstParty'],
  render: ({ form, catalogue }) => {
    const hasChosen = [...form.keys()].some((name) => name.startsWith('scope:'));
    const chosen = (name: string): string =>
      hasChosen ? form.text(`scope:${name}`) : catalogue.defaults.includes(name) ? 'required' : '';
    return html`
      ${catalogue.scopes.map(({ name, texts }) =>
        scopeField(name, chosen(name), phrase('Shown to users as “{text}”', { text: texts.en }), 'optional'),
      )}
      ${yesOrNo(form, 'firstParty', 'false')}
    `;
  },
};

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'].map((value): Option => ({ value, text: value }));

/** Flags that stand with the rules of the protocol. The consent page stands with the permissions. */
const PROTOCOL_FLAGS = Object.keys(mapFlags(() => true)).filter(
  (flag) => flag !== 'firstParty',
) as ClientFlag[];

const protocol = (view: GroupView, algorithms: readonly Option[]): Html => html`
  ${PROTOCOL_FLAGS.map((flag) => yesOrNo(view.form, flag, String(INITIAL_FLAGS[flag])))}
  ${selectField(fieldOf(view, 'idTokenAlg'), algorithms)}
  ${selectField(fieldOf(view, 'subject'), options('subject', 'public', 'pairwise'))}
`;

const PROTOCOL_FIELDS = [...PROTOCOL_FLAGS, 'idTokenAlg', 'subject'];

const RULES: Group = {
  title: 'Rules',
  fields: PROTOCOL_FIELDS,
  render: (view) => protocol(view, ALGORITHMS),
};

const PROFILE: Group = {
  title: 'Profile',
  fields: ['profile', ...PROTOCOL_FIELDS],
  render: (view) => {
    const isFapi = view.form.text('profile') === 'fapi2';
    return html`
      ${choices('profile', labelOf('profile'), 'radio', [
        { value: 'oauth', label: valueText('profile', 'oauth'), chosen: !isFapi },
        {
          value: 'fapi2',
          label: valueText('profile', 'fapi2'),
          hint: 'For banks and health services: pushed requests, keys and tokens bound to a key.',
          chosen: isFapi,
        },
      ])}
      ${protocol(view, [{ value: '', text: 'Profile default' }, ...ALGORITHMS])}
    `;
  },
};

export const CREATE_STEPS: readonly Group[] = [IDENTITY, KIND, ADDRESSES, SCOPES, PROFILE];
export const EDIT_GROUPS: readonly Group[] = [IDENTITY, ADDRESSES, SCOPES, RULES];

const API_CLIENT_SCOPES: Group = {
  ...SCOPES,
  render: ({ form }) =>
    html`${scopeField('admin:read', form.text('scope:admin:read'), 'Reads through the HTTP API.')}
    ${scopeField('admin:write', form.text('scope:admin:write'), 'Makes changes through the HTTP API.')}
    ${scopeField('admin:operators', form.text('scope:admin:operators'), 'Changes the roles and invitations of operators: it can make anyone an admin.')}`,
};

export const EDIT_API_CLIENT_GROUPS: readonly Group[] = [API_CLIENT_IDENTITY, API_CLIENT_SCOPES];
