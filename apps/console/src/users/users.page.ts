import type { ListPage } from '#platform/postgres/list-page.js';
import type { GrantView } from '#grants/operations/grant.service.js';
import type { UserDetails, UserView } from '#users/operations/user.description.js';
import type { UserSession } from '#messaging/request-sender.js';
import { html, type Html } from '#ui/html.js';
import { pathOf } from '../applications/application.page.js';
import { mayActAs } from '../role.js';
import type { Operator } from '../operator.js';
import {
  button,
  facts,
  hiddenFields,
  type Notices,
  notices,
  pageLinks,
  postForm,
  table,
  timeCell,
} from '#pages/components.js';
import { disableOrEnable } from '../ui/console-components.js';
import { type CountedPage, listPage, type ListQuery } from '../ui/list.page.js';
import type { Page } from '#pages/page.responder.js';
import { day, moment, phrase } from '#pages/format.js';

export function usersPage(
  operator: Operator,
  users: CountedPage<UserView>,
  query: ListQuery,
  changed?: Notices,
): Page {
  return listPage(operator, users, query, {
    changed,
    section: '/users',
    title: 'Users',
    caption: 'Users, newest first',
    search: 'Name, username, email address, or id:42',
    counted: '{count, plural, =0 {No user} one {One user} other {# users}}',
    columns: ['Name', 'ID', 'Username', 'Email', 'State', 'Created (UTC)'],
    row: (user) => ({
      id: user.id,
      name: user.name,
      cells: [
        html`<a href="/users/${user.id}">${user.name}</a>`,
        html`<code>${user.id}</code>`,
        user.username,
        user.email,
        stateOf(user),
        timeCell(user.created_at),
      ],
    }),
    actions: { 'disable-users': 'Disable', 'log-out-users': 'Log out' },
  });
}

function stateOf({ disabled_by: by }: Pick<UserView, 'disabled_by'>): Html {
  return by.length === 0
    ? html`<span class="tag">enabled</span>`
    : html`<span class="tag bad">${phrase('disabled by the {who}', { who: by.join(', ') })}</span>`;
}

export interface UserPageView {
  readonly operator: Operator;
  readonly user: UserDetails;
  readonly grants: ListPage<GrantView>;
  readonly sessions: readonly UserSession[] | null;
  /** See `PrivilegedAccounts`. */
  readonly mayChange: boolean;
  readonly changed: Notices;
}

export function userPage({ operator, user, grants, sessions, mayChange, changed }: UserPageView): Page {
  const { id, disabled_by: disabledBy } = user;
  const [isAdmin, isSupport] = [mayActAs(operator.role, 'admin'), mayActAs(operator.role, 'support')];
  // On this page, an operator cannot enable a user that was disabled by the product.
  const isDisabled = disabledBy.includes('operator');
  return {
    title: user.name,
    section: '/users',
    heading: html`<bdi>${user.name}</bdi> ${stateOf(user)}`,
    content: html`
      ${notices(changed)}
      <div class="actions">
        ${isSupport && mayChange && disableOrEnable(operator, `/users/${id}`, isDisabled)}
        <a class="button even" href="/audit?user=id:${id}">Audit</a>
        ${isAdmin && html`<a class="button danger" href="/users/${id}/delete">Delete</a>`}
      </div>
      ${isSupport && !mayChange && html`<p>Only an admin can disable, enable or log out this user, who has a role in the console.</p>`}
      ${isSupport && !isDisabled && disabledBy.length > 0 && html`<p>The product has disabled this user. Enable the user there, or with the command user enable --override-product.</p>`}
      ${facts([
        ['ID', html`<code>${id}</code>`],
        ['Username', user.username],
        ['Email', user.email_verified ? user.email : phrase('{email} (not verified)', { email: user.email })],
        ['Logs in', user.has_password ? 'with a password' : 'at the product'],
        ['ID in the product', user.external_id && html`<code>${user.external_id}</code>`],
        ['Time zone', user.time_zone],
        ['Language', user.locale],
        ['Created', moment(user.created_at)],
        ['Disabled', user.disabled_at && moment(user.disabled_at)],
      ])}
      <section>
        <h2>Applications with access</h2>
        ${grantTable(operator, grants.items, { user: `id:${id}` }, false)}
        ${pageLinks('/grants', { user: `id:${id}` }, grants)}
        ${
          isSupport &&
          grants.items.length > 0 &&
          html`<p>
            <a class="button danger" href="${revokePath({ user: `id:${id}` })}">Revoke all</a>
          </p>`
        }
      </section>
      <section>
        <h2>Sessions</h2>
        ${sessions === null ? html`<p>Sessions are unavailable, because authorize does not respond.</p>` : sessionTable(sessions)}
        ${
          isSupport &&
          mayChange &&
          sessions?.length !== 0 &&
          postForm(operator, `/users/${id}/logout`, button('Log out everywhere', 'danger'), '')
        }
      </section>
    `,
  };
}

function sessionTable(sessions: readonly UserSession[]): Html {
  return table(
    'Sessions in the product, newest first',
    ['Logged in', 'Last used', 'Login'],
    sessions.map(({ started_at: started, last_used_at: used, at_provider: atProvider }) => [
      moment(started),
      moment(used),
      atProvider ? 'at the login provider' : 'with a password',
    ]),
  );
}

/** Selects the grants of a user, of an application, or of a user to an application. */
type Selection = Readonly<Partial<Record<'user' | 'client', string>>>;

/** Path of the confirmation page for revoking all selected grants. */
function revokePath(selection: Selection): string {
  const id = new URLSearchParams(selection).toString();
  return `/jobs/new?${new URLSearchParams({ action: 'revoke-grants', id }).toString()}`;
}

/** @param selection grants to show after a revocation */
function grantTable(
  operator: Operator,
  grants: readonly GrantView[],
  selection: Selection,
  withUser = true,
): Html {
  const isSupport = mayActAs(operator.role, 'support');
  return table(
    'Live grants, newest first',
    [withUser && 'User', 'Application', 'Scope', 'Allowed (UTC)', 'Last used', isSupport && 'Action'],
    grants.map(({ id, user_id: userId, username, client_id: clientId, client_name: name, ...grant }) => [
      html`<a href="/users/${userId}">${username ?? userId}</a>`,
      html`<a href="${pathOf(clientId)}">${name}</a>`,
      grant.scope,
      timeCell(grant.created_at),
      grant.last_used_on === null ? 'never' : day(grant.last_used_on),
      isSupport &&
        postForm(
          operator,
          `/grants/${id}/revoke`,
          html`${hiddenFields(Object.entries(selection))}${button('Revoke', 'plain')}`,
          '',
        ),
    ]),
  );
}

export function grantsPage(
  operator: Operator,
  { items, ...page }: ListPage<GrantView>,
  selection: Selection,
  changed?: Notices,
): Page {
  const { user, client } = selection;
  const isSupport = mayActAs(operator.role, 'support');
  return {
    title: 'Grants',
    section: '/users',
    content: html`
      ${notices(changed)}
      <div class="actions">
        ${client && html`<a class="button even" href="${pathOf(client)}">Go to the application</a>`}
        ${user?.startsWith('id:') && html`<a class="button even" href="/users/${user.slice('id:'.length)}">Go to the user</a>`}
      </div>
      ${grantTable(operator, items, selection)} ${pageLinks('/grants', selection, page)}
      ${
        isSupport &&
        items.length > 0 &&
        Object.keys(selection).length > 0 &&
        html`<p>
          <a class="button danger" href="${revokePath(selection)}">Revoke all</a>
        </p>`
      }
    `,
  };
}
