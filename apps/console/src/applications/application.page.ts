import { wellFormed } from '#operations/wording.js';
import { type ClientView, isApiClient } from '#clients/operations/client.description.js';
import type { SecretView } from '#clients/operations/client-secret.service.js';
import type { RefusalSummary } from '#audit/operations/explain/refusal-summary.js';
import { type Fragment, html, type Html } from '#ui/html.js';
import { mapFlags } from '#clients/client-flags.js';
import { mayActAs } from '../role.js';
import type { Operator } from '../operator.js';
import {
  codes,
  copyable,
  facts,
  type Notices,
  notices,
  problemBox,
  table,
  timeCell,
} from '#pages/components.js';
import { disableOrEnable, referenceLink, refusalCause, stateTag } from '../ui/console-components.js';
import { type CountedPage, listPage, type ListQuery } from '../ui/list.page.js';
import type { Page } from '#pages/page.responder.js';
import { moment, phrase } from '#pages/format.js';
import { FLAG_TEXTS, flagText, hasDeviceGrant, hasOwnKeys, labelOf } from './application.form.js';

/** @param clientId any text, because it may come from an event */
export function pathOf(clientId: string, page?: string): string {
  const path = `/applications/${encodeURIComponent(wellFormed(clientId))}`;
  return page === undefined ? path : `${path}/${page}`;
}

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
    title: 'Applications',
    caption: 'Registered applications, newest first',
    search: 'Name, client ID, redirect URI or contact',
    counted: '{count, plural, =0 {No application} one {One application} other {# applications}}',
    columns: ['Name', 'Client ID', 'State', 'Authenticates with', 'Registered (UTC)'],
    row: (client) => ({
      id: client.client_id,
      name: client.name,
      cells: [
        html`<a href="${pathOf(client.client_id)}">${client.name}</a>`,
        html`<code>${client.client_id}</code>`,
        stateTag(client.disabled_at),
        methodOf(client),
        timeCell(client.created_at),
      ],
    }),
    actions: { 'disable-applications': 'Disable', 'enable-applications': 'Enable' },
    head:
      mayActAs(operator.role, 'admin') &&
      html`<p><a class="button" href="/applications/new">New application</a></p>`,
  });
}

function methodOf({ auth_method: method, live_secrets: secrets }: ClientView): string {
  if (method === 'client_secret')
    return phrase('{secrets, plural, =0 {no secret} one {a secret} other {# secrets}}', { secrets });
  return method === 'none' ? 'PKCE only' : 'its keys';
}

export function applicationLabel({ name, client_id: id }: ClientView): Html {
  return html`<bdi>${name}</bdi>, <code>${id}</code>`;
}

function placeOf(client: ClientView): string {
  if (isApiClient(client)) return 'At the operator, as an API client';
  return client.type === 'public' ? 'In a browser, or on a phone or computer' : 'On a server';
}

function rulesOf(client: ClientView): [name: string, value: Fragment][] {
  return [
    ...Object.values(
      mapFlags((flag): [string, string] => [labelOf(flag), FLAG_TEXTS[flag][flagText(client, flag)]]),
    ),
    [labelOf('privateSchemes'), client.private_schemes.join(' ')],
    [labelOf('deviceGrant'), hasDeviceGrant(client) && 'allowed'],
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
  /** See `PrivilegedAccounts`. */
  readonly mayChange: boolean;
  readonly changed: Notices;
}

export function applicationPage(view: ApplicationView): Page {
  const { operator, client, secrets, live, refused, mayChange, changed } = view;
  const { client_id: id, name, disabled_at: disabledAt } = client;
  const [isAdmin, isSupport] = [mayActAs(operator.role, 'admin'), mayActAs(operator.role, 'support')];
  const link = (address: string | null) =>
    address && html`<a href="${address}" rel="noreferrer">${address}</a>`;
  const scopes = client.scopes.map((scope) =>
    client.optional_scopes.includes(scope) ? `${scope} (optional)` : scope,
  );
  const hasUsers = !isApiClient(client);
  const isDisabled = disabledAt !== null;
  return {
    title: name,
    section: '/applications',
    heading: html`<bdi>${name}</bdi> ${stateTag(disabledAt)}`,
    content: html`
      ${notices(changed)}
      <div class="actions">
        ${isAdmin && html`<a class="button" href="${pathOf(id, 'edit')}">Edit</a>`}
        ${isAdmin && hasUsers && html`<a class="button even" href="${pathOf(id, 'logo')}">Logo</a>`}
        ${isAdmin && hasOwnKeys(client) && html`<a class="button even" href="${pathOf(id, 'keys')}">Keys</a>`}
        <a class="button even" href="${pathOf(id, 'handover')}">Instructions for the owner</a>
        ${hasUsers && html`<a class="button even" href="${pathOf(id, 'consent')}">Consent page</a>`}
        <a class="button even" href="${pathOf(id, 'events')}">Events</a>
        <a class="button even" href="/grants?client=${encodeURIComponent(id)}">Grants</a>
        <a class="button even" href="/events?client=${encodeURIComponent(id)}">What happened</a>
        ${isSupport && mayChange && disableOrEnable(operator, pathOf(id), isDisabled)}
        ${isAdmin && html`<a class="button danger" href="${pathOf(id, 'delete')}">Delete</a>`}
      </div>
      ${isSupport && !mayChange && html`<p>Only an admin can disable or enable an API client, or the application of the console.</p>`}
      ${facts([
        ['Client ID', html`<code>${id}</code>`],
        ['Users', hasUsers && usersOf(live)],
        [labelOf('type'), placeOf(client)],
        ['Authenticates with', methodOf(client)],
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
          'Next refresh of the metadata document',
          client.document_due_at ? moment(client.document_due_at) : null,
        ],
        ['Problem with the metadata document', client.document_problem ?? null],
        ['Registered', moment(client.created_at)],
        ['Disabled', disabledAt === null ? null : moment(disabledAt)],
      ])}
      ${client.auth_method === 'client_secret' && secretSection(operator, id, secrets)}
      ${refusalSection(id, refused)}
    `,
  };
}

function secretSection(operator: Operator, id: string, secrets: readonly SecretView[]): Html {
  const isAdmin = mayActAs(operator.role, 'admin');
  const revoke = (secret: string) =>
    html`<a href="${pathOf(id, `secrets/${encodeURIComponent(secret)}/revoke`)}">Revoke</a>`;
  return html`<section>
    <h2>Secrets</h2>
    ${table(
      'Live secrets, oldest first',
      ['ID', 'Created', 'Last used', isAdmin && 'Action'],
      secrets.map(({ id: secret, created_at: created, last_used_at: used }) => [
        html`<code>${secret}</code>`,
        moment(created),
        used === null ? 'never' : moment(used),
        revoke(secret),
      ]),
    )}
    ${isAdmin && secrets.length < 2 && html`<p><a class="button even" href="${pathOf(id, 'secrets/new')}">New secret</a></p>`}
  </section>`;
}

function usersOf({ grants, users }: ApplicationView['live']): string {
  if (users === null) return phrase('{grants, number} live grants', { grants });
  return phrase(
    '{users, plural, =0 {No user has allowed it access} one {One user has allowed it access} other {# users have allowed it access}}',
    { users },
  );
}

/** The causes of the latest refused requests. */
function refusalSection(id: string, refused: RefusalSummary | string): Html {
  const query = new URLSearchParams({ client: id, period: '29d' });
  return html`<section>
    <h2>Last refusals</h2>
    ${
      typeof refused === 'string'
        ? problemBox([refused])
        : table(
            'Causes of refused requests in the last 30 days, the latest first',
            ['Cause', { title: 'Count', isNumber: true }, 'Latest (UTC)', 'Latest reference'],
            refused.groups
              .toSorted((a, b) => b.last.localeCompare(a.last))
              .slice(0, MAX_REFUSALS)
              .map(({ count, last, reference, ...group }) => [
                refusalCause(group),
                count,
                timeCell(last),
                reference !== null && referenceLink(reference),
              ]),
            'No request was refused in the last 30 days.',
          )
    }
    <p><a href="/events?${query.toString()}">All refusals and their remedies</a></p>
  </section>`;
}

export function newSecretPage(client: ClientView, secret: string, warnings: readonly string[]): Page {
  return {
    title: 'New secret',
    status: 201,
    section: '/applications',
    content: html`
      ${notices({ warnings })}
      ${facts([
        ['Application', client.name],
        ['Client ID', html`<code>${client.client_id}</code>`],
        ['Client secret', copyable('secret', secret)],
      ])}
      <p role="status">The secret is shown only once, because the service stores only its hash.</p>
      <p>Both secrets work until you revoke the old one. Revoke it once the application uses the new one.</p>
      <p><a class="button" href="${pathOf(client.client_id)}">Go to the application</a></p>
    `,
  };
}

export function handoverPage(client: ClientView, markdown: string, warnings: readonly string[]): Page {
  return {
    title: phrase('Instructions for the owner of {name}', { name: client.name }),
    section: '/applications',
    content: html`
      ${notices({ warnings })}
      <p>
        Send this to the owner of the application, with the integration guide. It does not contain the secret.
      </p>
      <div class="actions">
        <a class="button" href="${pathOf(client.client_id, 'handover.md')}" download>Download</a>
        <a class="button even" href="${pathOf(client.client_id)}">Go to the application</a>
      </div>
      <pre class="scrolls" tabindex="0">${markdown}</pre>
    `,
  };
}
