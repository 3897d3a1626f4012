import type {
  ConsoleOperatorView,
  InvitationView,
} from '#users/operations/operators/console-operator.service.js';
import { CONSOLE_ROLES, type ConsoleRole } from '#users/operators/console-role.js';
import { html, type Html } from '#ui/html.js';
import type { Form } from '#pages/form.js';
import type { Operator } from '../operator.js';
import { mayActAs } from '../role.js';
import { stateTag } from '../ui/console-components.js';
import {
  button,
  copyable,
  hiddenFields,
  type Notices,
  notices,
  postForm,
  problemBox,
  selectField,
  table,
  textField,
} from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { moment, phrase } from '#pages/format.js';

const ROLES: Readonly<Record<ConsoleRole, string>> = {
  viewer: 'viewer: reads',
  support: 'support: also ends access',
  admin: 'admin: may do everything',
};

const roleField = (value: string): Html =>
  selectField(
    { name: 'role', label: 'Role', value },
    CONSOLE_ROLES.map((role) => ({ value: role, text: ROLES[role] })),
  );

interface OperatorsView {
  readonly operator: Operator;
  readonly operators: readonly ConsoleOperatorView[];
  readonly invitations: readonly InvitationView[];
  /** False if the groups of the login provider decide who has a role. */
  readonly isStored: boolean;
  readonly changed: Notices;
}

export function operatorsPage({ operator, operators, invitations, isStored, changed }: OperatorsView): Page {
  const mayChange = isStored && mayActAs(operator.role, 'admin');
  return {
    title: 'Operators',
    section: '/operators',
    content: html`
      ${notices(changed)}
      ${
        isStored
          ? html`${mayChange && html`<p><a class="button" href="/operators/new">New operator</a></p>`}
            ${table(
              'Users with a role in the console',
              ['Username', 'Email', 'Role', 'State', mayChange && 'Action'],
              operators.map(({ user_id: id, username, email, role, disabled_at: disabledAt }) => [
                html`<a href="/users/${id}"><bdi>${username}</bdi></a>`,
                email,
                ROLES[role],
                stateTag(disabledAt),
                html`<a
                  href="/operators/${id}"
                  aria-label="${phrase('Change the role of {username}', { username })}"
                  >Change</a
                >`,
              ]),
            )}
            ${invitations.length > 0 && invitationTable(operator, invitations, mayChange)}`
          : html`<p>
              The groups of the login provider decide who has a role: see CONSOLE_GROUPS_CLAIM and
              CONSOLE_ROLES.
            </p>`
      }
    `,
  };
}

function invitationTable(
  operator: Operator,
  invitations: readonly InvitationView[],
  mayChange: boolean,
): Html {
  return table(
    'Open invitations',
    ['Email', 'Role', 'Invited by', 'Expires', mayChange && 'Action'],
    invitations.map(({ id, email, role, invited_by: by, expires_at: expiresAt }) => [
      email,
      ROLES[role],
      html`<bdi>${by}</bdi>`,
      moment(expiresAt),
      mayChange && postForm(operator, `/operators/invitations/${id}/revoke`, button('Withdraw', 'plain'), ''),
    ]),
  );
}

export function newOperatorPage(operator: Operator, form: Form, problems: readonly string[] = []): Page {
  const role = form.text('role') || 'viewer';
  return {
    title: 'New operator',
    status: problems.length > 0 ? 400 : 200,
    section: '/operators',
    content: html`
      ${problemBox(problems)}
      <section>
        <h2>Give a user a role</h2>
        ${postForm(
          operator,
          '/operators/new',
          html`${textField({ name: 'login', label: 'Email, username or id:42', value: form.text('login'), required: true })}
            ${roleField(role)}
            <div class="actions">
              ${button('Grant the role')} <a class="button even" href="/operators">Cancel</a>
            </div>`,
        )}
      </section>
      <section>
        <h2>Invite somebody</h2>
        <p>
          The role is granted once, when a user with this verified email address logs in to the console within
          seven days.
        </p>
        ${postForm(
          operator,
          '/operators/new',
          html`${textField({ name: 'email', label: 'Email', type: 'email', value: form.text('email'), required: true })}
            ${invitedRole(role)} ${hiddenFields([['go', 'invite']])}
            <div class="actions">${button('Invite', 'even')}</div>`,
        )}
      </section>
    `,
  };
}

/** Uses another id than the field of the first form. */
function invitedRole(value: string): Html {
  return html`<div>
    <label for="invited-role">Role</label>
    <select id="invited-role" name="role">
      ${CONSOLE_ROLES.map((role) => html`<option value="${role}" ${role === value && html`selected`}>${ROLES[role]}</option>`)}
    </select>
  </div>`;
}

export function invitedPage(
  { email, role, expires_at: expiresAt }: InvitationView,
  link: string,
  warnings: readonly string[],
): Page {
  return {
    title: phrase('{email} is invited', { email }),
    status: 201,
    section: '/operators',
    content: html`
      ${notices({ warnings })}
      <p>
        ${phrase('No email is sent. Hand over this link: the first login with the verified address {email} until {time} gets the role {role}. Nobody else can use the invitation.', { email, time: moment(expiresAt), role })}
      </p>
      <p>${copyable('link', link)}</p>
      <p><a class="button" href="/operators">Go to the operators</a></p>
    `,
  };
}

export function operatorPage(
  operator: Operator,
  { user_id: id, username, email, role }: ConsoleOperatorView,
  refused?: { readonly form: Form; readonly warnings: readonly string[] },
): Page {
  const path = `/operators/${id}`;
  const wanted = refused?.form.text('role') || role;
  const confirm = hiddenFields(refused ? [['confirmLastAdmin', 'true']] : []);
  const ends = refused?.form.text('go') === 'end';
  return {
    title: phrase('Role of {username}', { username }),
    status: refused ? 409 : 200,
    section: '/operators',
    content: html`
      ${problemBox(refused?.warnings ?? [])}
      <p><bdi>${email}</bdi></p>
      ${
        !ends &&
        postForm(
          operator,
          path,
          html`${roleField(wanted)} ${confirm}
            <div class="actions">
              ${button(refused ? 'Change anyway' : 'Change the role', refused ? 'danger' : '')}
              <a class="button even" href="/operators">Cancel</a>
            </div>`,
        )
      }
      ${
        (!refused || ends) &&
        postForm(
          operator,
          path,
          html`${hiddenFields([['go', 'end']])} ${confirm}
            <div class="actions">
              ${button(refused ? 'End the role anyway' : 'End the role', 'danger')}
              ${refused && html`<a class="button even" href="/operators">Cancel</a>`}
            </div>`,
          '',
        )
      }
    `,
  };
}
