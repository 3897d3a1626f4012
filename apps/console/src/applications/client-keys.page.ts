import type { ClientView } from '#clients/operations/client.description.js';
import { thumbprintOf } from '#oauth/jwk.js';
import { html, type Html } from '#ui/html.js';
import type { Form } from '#pages/form.js';
import type { Operator } from '../operator.js';
import {
  button,
  linesField,
  type Notices,
  notices,
  otherProblems,
  postForm,
  table,
  textField,
} from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { phrase } from '#pages/format.js';
import { labelOf, NO_PROBLEMS, type Problems } from './application.form.js';
import { pathOf } from './application.page.js';

interface KeysView {
  readonly operator: Operator;
  readonly client: ClientView;
  readonly form: Form;
  readonly problems?: Problems;
  readonly changed?: Notices;
}

export function keysPage(view: KeysView): Page {
  const { client, problems = NO_PROBLEMS, changed = {} } = view;
  const { client_id: id, name, jwks_uri: uri } = client;
  const forms = html`${keysForm(view, problems)} ${urlForm(view, problems)}`;
  return {
    title: phrase('Keys of {name}', { name }),
    status: problems.size > 0 ? 400 : 200,
    section: '/applications',
    content: html`
      ${notices(changed)} ${otherProblems(problems, forms)}
      ${
        uri === undefined
          ? keyTable(client)
          : html`<p>
              The service fetches the keys from this URL: <a href="${uri}" rel="noreferrer">${uri}</a>
            </p>`
      }
      ${forms}
      <p><a class="button even" href="${pathOf(id)}">Go to the application</a></p>
    `,
  };
}

function keyTable({ client_id: id, jwks }: ClientView): Html {
  const keys = jwks?.keys ?? [];
  return table(
    'Registered public keys',
    ['Key ID (kid)', 'Type', 'Thumbprint (RFC 7638)', 'Action'],
    keys.map((key) => {
      const thumbprint = thumbprintOf(key);
      return [
        key.kid !== undefined && html`<code>${key.kid}</code>`,
        key.alg ?? ('crv' in key ? key.crv : key.kty),
        html`<code>${thumbprint}</code>`,
        keys.length === 1
          ? 'The last key cannot be removed.'
          : html`<a
              href="${pathOf(id, `keys/${thumbprint}/remove`)}"
              aria-label="${phrase('Remove the key {key}', { key: key.kid ?? thumbprint })}"
              >Remove</a
            >`,
      ];
    }),
  );
}

function keysForm({ operator, client, form }: KeysView, problems: Problems): Html {
  const { client_id: id, jwks_uri: uri } = client;
  const hint = 'A JWK or JWK Set (RFC 7517) with public keys only.';
  return html`<section>
    <h2>${uri === undefined ? 'Add a key' : 'Register keys in place of the URL'}</h2>
    ${postForm(
      operator,
      pathOf(id, 'keys'),
      html`${linesField({
          name: 'addKeys',
          label: labelOf('addKeys'),
          value: form.lines('addKeys'),
          hint,
          required: true,
          problems: [...(problems.get('addKeys') ?? []), ...(problems.get('jwks') ?? [])],
        })}
        <div class="actions">${button(uri === undefined ? 'Add' : 'Register')}</div>`,
    )}
  </section>`;
}

function urlForm({ operator, client, form }: KeysView, problems: Problems): Html {
  const { client_id: id, jwks_uri: uri = '' } = client;
  return html`<section>
    <h2>${uri === '' ? 'Fetch the keys from a URL instead' : 'Change the URL'}</h2>
    ${postForm(
      operator,
      pathOf(id, 'keys'),
      html`${textField({
          name: 'jwksUri',
          label: labelOf('jwksUri'),
          type: 'url',
          value: form.text('jwksUri') || uri,
          hint:
            uri === ''
              ? 'The https URL of the JWK Set. It replaces the registered keys immediately.'
              : 'The https URL of the JWK Set.',
          required: true,
          problems: problems.get('jwksUri') ?? [],
        })}
        <div class="actions">${button('Use this URL', 'even')}</div>`,
    )}
  </section>`;
}
