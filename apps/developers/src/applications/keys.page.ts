import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import type { ClientKeysReply } from '#messaging/contract.js';
import type { ClientJwk } from '#oauth/client-assertion/client-keys.js';
import { thumbprintOf } from '#oauth/jwk.js';
import { hasKeys } from '#oauth/oauth-client.js';
import {
  button,
  hiddenFields,
  linesField,
  otherProblems,
  postForm,
  table,
  textField,
} from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { html, type Html } from '#ui/html.js';
import { NO_PROBLEMS, type Problems } from '../requests/request.form.js';
import type { Translator } from '../ui/i18n/translator.js';
import { backLink, factsOf, pathOf, timeOf } from '../ui/parts.js';
import type { Viewer } from '../developer.js';

interface KeysView extends Viewer {
  readonly client: OwnedClient;
  /** Null if the state is not known, or the client has no `jwks_uri`. */
  readonly fetched: ClientKeysReply['fetched'];
}

/** Keys of an application, or the state of the URL at which the service fetches them. */
export function keysPage({ translator, client, fetched }: KeysView): Page {
  return {
    title: translator.text('keys.title'),
    section: '/',
    content: html`
      ${backLink(client)}
      ${client.jwksUri === null ? keyTable(translator, client.jwks?.keys ?? []) : html`${uriOf(translator, client.jwksUri)} ${stateOf(translator, fetched)}`}
      ${keyLinks(translator, client)}
    `,
  };
}

/** Section of the page of an application that authenticates with keys. */
export function keySection(translator: Translator, client: OwnedClient): Html {
  const { clientId, jwks, jwksUri } = client;
  return html`<section>
    <h2>${translator.text('keys.title')}</h2>
    ${
      jwksUri === null
        ? keyTable(translator, jwks?.keys ?? [])
        : html`${uriOf(translator, jwksUri)}
            <p><a href="${pathOf(clientId, 'keys')}">${translator.text('keys.state')}</a></p>`
    }
    ${keyLinks(translator, client)}
  </section>`;
}

const uriOf = (translator: Translator, uri: string): Html =>
  factsOf(translator, {
    'keys.uri': html`<code>${uri}</code>`,
  });

function keyLinks(translator: Translator, client: OwnedClient): Html | false {
  const link = (path: string, text: string) =>
    html`<a class="button even" href="${pathOf(client.clientId, 'keys', path)}">${text}</a>`;
  return (
    client.type === 'confidential' &&
    html`<div class="actions">
      ${link('change', translator.text('keys.change'))}
      ${hasKeys(client) && client.profile === null && link('remove', translator.text('keys.remove'))}
    </div>`
  );
}

function stateOf(translator: Translator, fetched: ClientKeysReply['fetched']): Html {
  if (fetched === null) return html`<p>${translator.text('keys.unknown')}</p>`;
  const { at, failure, count, keys } = fetched;
  return html`
    ${factsOf(translator, {
      'keys.fetched': timeOf(translator, at),
      'keys.number': count,
    })}
    ${failure !== null && html`<p class="problem">${translator.text(`keys.failed_${failure}`)}</p>`}
    ${keyTable(translator, keys)}
  `;
}

function keyTable(translator: Translator, keys: readonly ClientJwk[]): Html {
  return table(
    translator.text('keys.keys'),
    translator.texts('keys.kid', 'keys.type', 'keys.algorithm', 'keys.thumbprint'),
    keys.map((key) => [
      key.kid !== undefined && html`<code>${key.kid}</code>`,
      typeOf(key),
      key.alg,
      html`<code>${thumbprintOf(key)}</code>`,
    ]),
    translator.text('keys.none'),
  );
}

function typeOf(key: ClientJwk): string {
  if ('n' in key) return `${key.kty} ${Buffer.from(key.n, 'base64url').length * 8}`;
  return `${key.kty} ${key.crv}`;
}

interface KeysFormView extends Viewer {
  readonly client: OwnedClient;
  /** Values to show again; undefined for the registered ones. */
  readonly given?: { readonly jwks: string; readonly jwksUri: string };
  readonly problems?: Problems;
}

/** The two forms that replace the keys. Keys and secrets exclude each other, so the secrets must be revoked first. */
export function keysFormPage(view: KeysFormView): Page {
  const { translator, developer, client, problems = NO_PROBLEMS } = view;
  const { given = { jwks: textOf(client), jwksUri: client.jwksUri ?? '' } } = view;
  const form = (title: 'keys.replace' | 'keys.use_uri', look: '' | 'even', field: Html) =>
    postForm(
      developer,
      pathOf(client.clientId, 'keys'),
      html`${hiddenFields([['version', String(client.version)]])} ${field}
        <div class="actions">${button(translator.text(title), look)}</div>`,
    );
  const forms = html`
    ${form(
      'keys.replace',
      '',
      linesField({
        name: 'jwks',
        label: translator.text('keys.set'),
        hint: translator.text('keys.set_hint'),
        value: [given.jwks],
        required: true,
        problems: problems.get('jwks') ?? [],
      }),
    )}
    ${form(
      'keys.use_uri',
      'even',
      textField({
        name: 'jwksUri',
        label: translator.text('keys.uri'),
        hint: translator.text('keys.uri_hint'),
        type: 'url',
        value: given.jwksUri,
        required: true,
        problems: problems.get('jwksUri') ?? [],
      }),
    )}
  `;
  return {
    title: translator.text('keys.change'),
    status: problems.size > 0 ? 400 : 200,
    section: '/',
    content: html`
      ${backLink(client)} ${otherProblems(problems, forms)}
      ${client.type === 'public' && html`<p>${translator.text('problem.public_client')}</p>`}
      ${client.secrets.length > 0 && html`<p>${translator.text('problem.client_has_secrets')}</p>`}
      ${client.type === 'confidential' && client.secrets.length === 0 && forms}
    `,
  };
}

const textOf = ({ jwks }: OwnedClient): string => (jwks === null ? '' : JSON.stringify(jwks, null, 2));
