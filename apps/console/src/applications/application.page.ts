import { type ClientView, isApiClient } from '#clients/operations/client.description.js';
import type { SecretView } from '#clients/operations/client-secret.service.js';
import type { RefusalSummary } from '#audit/operations/explain/refusal-summary.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import { mayActAs } from '../role.js';
import type { Operator } from '../operator.js';
import {
  codes,
  copyable,
  disableOrEnable,
  facts,
  type Notices,
  notices,
  problemBox,
  referenceLink,
  table,
  timeCell,
} from '../ui/components.js';
import { type CountedPage, listPage, type ListQuery } from '../ui/list.page.js';
import type { Page } from '../ui/page.responder.js';
import { day, moment, t } from '../ui/text.js';
import { mapFlags } from '#clients/client-flags.js';
import { FLAG_TEXTS, flagText, hasDeviceGrant, hasOwnKeys, labelOf } from './application.form.js';
import { pathOf } from './paths.js';

const MAX_REFUSALS = 5;

export function applicationsPage(
  operator: Operator,
  clients: CountedPage<ClientView>,
  query: ListQuery,
  changed?: Notices,
): Page {
  return listPage(operator, clients, query, {
    changed,
    section: '/applications',
    title: t('Applications'),
    caption: t('Registered applications, newest first'),
    search: t('Name, client ID, redirect URI or contact'),
    counted: '{count, plural, =0 {No application} one {One application} other {# applications}}',
    columns: [t('Name'), t('Client ID'), t('State'), t('Authenticates with'), t('Registered (UTC)')],
    row: (client) => ({
      id: client.client_id,
      name: client.name,
      cells: [
        html`<a href="${pathOf(client.client_id)}">${client.name}</a>`,
        html`<code>${client.client_id}</code>`,
        stateOf(client),
        methodOf(client),
        timeCell(client.created_at),
      ],
    }),
    actions: { 'disable-applications': t('Disable'), 'enable-applications': t('Enable') },
    head:
      mayActAs(operator.role, 'admin') &&
      html`<p><a class="button" href="/applications/new">${t('New application')}</a></p>`,
  });
}

function stateOf({ disabled_at: disabledAt }: ClientView): Html {
  return disabledAt === null
    ? html`<span class="tag">${t('enabled')}</span>`
    : html`<span class="tag bad">${t('disabled')}</span>`;
}

function methodOf({ auth_method: method, live_secrets: secrets }: ClientView): string {
  if (method === 'client_secret')
    return t('{secrets, plural, =0 {no secret} one {a secret} other {# secrets}}', { secrets });
  return method === 'none' ? t('PKCE only') : t('its keys');
}

export function applicationLabel({ name, client_id: id }: ClientView): Html {
  return html`<bdi>${name}</bdi>, <code>${id}</code>`;
}

function placeOf(client: ClientView): string {
  if (isApiClient(client)) return t('At the operator, as an API client');
  return client.type === 'public' ? t('In a browser, or on a phone or computer') : t('On a server');
}

function rulesOf(client: ClientView): [name: string, value: Fragment][] {
  return [
    ...Object.values(
      mapFlags((flag): [string, string] => [labelOf(flag), FLAG_TEXTS[flag][flagText(client, flag)]]),
    ),
    [labelOf('privateSchemes'), client.private_schemes.join(' ')],
    [labelOf('deviceGrant'), hasDeviceGrant(client) && t('allowed')],
    [labelOf('idTokenAlg'), client.id_token_alg],
    [labelOf('subject'), client.subject],
  ];
}

export interface ApplicationView {
  readonly operator: Operator;
  readonly client: ClientView;
  readonly secrets: readonly SecretView[];
  /** Numbers of live grants and of their users, see `ClientService.countGrants`. */
  readonly live: { readonly grants: number; readonly users: number | null };
  /** Text if the audit trail is unavailable. */
  readonly refused: RefusalSummary | string;
  readonly mayEnable: boolean;
  readonly changed: Notices;
}

export function applicationPage(view: ApplicationView): Page {
  const { operator, client, secrets, live, refused, mayEnable, changed } = view;
  const { client_id: id, name, disabled_at: disabledAt } = client;
  const [isAdmin, isSupport] = [mayActAs(operator.role, 'admin'), mayActAs(operator.role, 'support')];
  const link = (address: string | null) =>
    address && html`<a href="${address}" rel="noreferrer">${address}</a>`;
  const scopes = client.scopes.map((scope) =>
    client.optional_scopes.includes(scope) ? `${scope} (${t('optional')})` : scope,
  );
  const hasUsers = !isApiClient(client);
  const isDisabled = disabledAt !== null;
  return {
    title: name,
    section: '/applications',
    heading: html`<bdi>${name}</bdi> ${stateOf(client)}`,
    content: html`
      ${notices(changed)}
      <div class="actions">
        ${isAdmin && html`<a class="button" href="${pathOf(id, 'edit')}">${t('Edit')}</a>`}
        ${isAdmin && hasUsers && html`<a class="button even" href="${pathOf(id, 'logo')}">${t('Logo')}</a>`}
        ${isAdmin && hasOwnKeys(client) && html`<a class="button even" href="${pathOf(id, 'keys')}">${t('Keys')}</a>`}
        <a class="button even" href="${pathOf(id, 'handover')}">${t('Instructions for the owner')}</a>
        ${hasUsers && html`<a class="button even" href="${pathOf(id, 'consent')}">${t('Consent page')}</a>`}
        <a class="button even" href="/grants?client=${encodeURIComponent(id)}">${t('Grants')}</a>
        <a class="button even" href="/events?client=${encodeURIComponent(id)}">${t('What happened')}</a>
        ${isSupport && (!isDisabled || mayEnable) && disableOrEnable(operator, pathOf(id), isDisabled)}
        ${isAdmin && html`<a class="button danger" href="${pathOf(id, 'delete')}">${t('Delete')}</a>`}
      </div>
      ${isSupport && isDisabled && !mayEnable && html`<p>${t('Only an admin can enable an API client.')}</p>`}
      ${facts([
        [t('Client ID'), html`<code>${id}</code>`],
        [t('Users'), hasUsers && usersOf(live)],
        [labelOf('public'), placeOf(client)],
        [t('Authenticates with'), methodOf(client)],
        [labelOf('jwks'), client.keys && codes(client.keys)],
        [labelOf('jwksUri'), link(client.jwks_uri ?? null)],
        [labelOf('redirectUris'), codes(client.redirect_uris)],
        [labelOf('scopes'), codes(scopes)],
        [labelOf('profile'), client.profile ?? null],
        ...(hasUsers ? rulesOf(client) : []),
        [labelOf('postLogoutRedirectUris'), codes(client.post_logout_redirect_uris)],
        [labelOf('backchannelLogoutUri'), link(client.backchannel_logout_uri)],
        [labelOf('clientUri'), link(client.client_uri)],
        [labelOf('policyUri'), link(client.policy_uri)],
        [labelOf('contacts'), codes(client.contacts)],
        [
          t('Next refresh of the metadata document'),
          client.document_due_at ? moment(client.document_due_at) : null,
        ],
        [t('Problem with the metadata document'), client.document_problem ?? null],
        [t('Registered'), moment(client.created_at)],
        [t('Disabled'), disabledAt === null ? null : moment(disabledAt)],
      ])}
      ${client.auth_method === 'client_secret' && secretSection(operator, id, secrets)}
      ${refusalSection(id, refused)}
    `,
  };
}

function secretSection(operator: Operator, id: string, secrets: readonly SecretView[]): Html {
  const isAdmin = mayActAs(operator.role, 'admin');
  const revoke = (secret: string) =>
    html`<a href="${pathOf(id, `secrets/${encodeURIComponent(secret)}/revoke`)}">${t('Revoke')}</a>`;
  return html`<section>
    <h2>${t('Secrets')}</h2>
    ${table(
      t('Live secrets, oldest first'),
      [t('ID'), t('Created'), t('Last used'), isAdmin && t('Action')],
      secrets.map(({ id: secret, created_at: created, last_used_on: used }) => [
        html`<code>${secret}</code>`,
        moment(created),
        used === null ? t('never') : day(used),
        revoke(secret),
      ]),
    )}
    ${isAdmin && secrets.length < 2 && html`<p><a class="button even" href="${pathOf(id, 'secrets/new')}">${t('New secret')}</a></p>`}
  </section>`;
}

function usersOf({ grants, users }: ApplicationView['live']): string {
  if (users === null) return t('{grants, number} live grants', { grants });
  return t(
    '{users, plural, =0 {No user has allowed it access} one {One user has allowed it access} other {# users have allowed it access}}',
    { users },
  );
}

/** The causes of the latest refused requests. */
function refusalSection(id: string, refused: RefusalSummary | string): Html {
  const query = new URLSearchParams({ client: id, period: '29d' });
  return html`<section>
    <h2>${t('Last refusals')}</h2>
    ${
      typeof refused === 'string'
        ? problemBox([refused])
        : table(
            t('Causes of refused requests in the last 30 days, the latest first'),
            [t('Cause'), { title: t('Count'), isNumber: true }, t('Latest (UTC)'), t('Latest reference')],
            refused.groups
              .toSorted((a, b) => b.last.localeCompare(a.last))
              .slice(0, MAX_REFUSALS)
              .map(({ title, check, error, count, last, reference }) => [
                html`${title ?? check ?? error}<br /><code>${check ?? error}</code>`,
                count,
                timeCell(last),
                reference !== null && referenceLink(reference),
              ]),
            t('No request was refused in the last 30 days.'),
          )
    }
    <p><a href="/events?${query.toString()}">${t('All refusals and their remedies')}</a></p>
  </section>`;
}

export function newSecretPage(client: ClientView, secret: string, warnings: readonly string[]): Page {
  return {
    title: t('New secret'),
    status: 201,
    section: '/applications',
    content: html`
      ${notices({ warnings })}
      ${facts([
        [t('Application'), client.name],
        [t('Client ID'), html`<code>${client.client_id}</code>`],
        [t('Client secret'), copyable('secret', secret)],
      ])}
      <p role="status">${t('The secret is shown only once, because the service stores only its hash.')}</p>
      <p>
        ${t('Both secrets work until you revoke the old one. Revoke it once the application uses the new one.')}
      </p>
      <p><a class="button" href="${pathOf(client.client_id)}">${t('Go to the application')}</a></p>
    `,
  };
}

export function handoverPage(client: ClientView, markdown: string, warnings: readonly string[]): Page {
  return {
    title: t('Instructions for the owner of {name}', { name: client.name }),
    section: '/applications',
    content: html`
      ${notices({ warnings })}
      <p>
        ${t('Send this to the owner of the application, with the integration guide. It does not contain the secret.')}
      </p>
      <div class="actions">
        <a class="button" href="${pathOf(client.client_id, 'handover.md')}" download>${t('Download')}</a>
        <a class="button even" href="${pathOf(client.client_id)}">${t('Go to the application')}</a>
      </div>
      <pre class="scrolls" tabindex="0">${markdown}</pre>
    `,
  };
}
