import type { ClientInvitationEntity } from '#clients/owners/client-owner.entity.js';
import type { AcceptedMembership, Member, ReceivedInvitation } from '#clients/owners/client-member.store.js';
import type { OwnedClient } from '#clients/owners/owned-client.store.js';
import { button, postForm, table, textField } from '#pages/components.js';
import type { Page } from '#pages/page.responder.js';
import { html, type Html } from '#ui/html.js';
import { backLink, confirmPage, copyable, noteOf, pathOf, timeOf } from '../ui/parts.js';
import type { Viewer } from '../developer.js';

export interface TeamView extends Viewer {
  readonly client: OwnedClient;
  readonly members: readonly Member[];
  readonly invitations: readonly ClientInvitationEntity[];
}

export function teamPage(view: TeamView): Page {
  const { translator, client } = view;
  const isTesting = client.stage === 'testing';
  return {
    title: translator.text('app.team'),
    section: '/',
    content: html`
      ${backLink(client)} ${noteOf(view)} ${membersOf(view, 'owner')}
      ${isTesting && membersOf(view, 'tester')} ${invitationsOf(view)}
      ${inviteForm(view, isTesting ? ['tester', 'owner'] : ['owner'])}
    `,
  };
}

function membersOf({ translator, actor, client, members }: TeamView, kind: Member['kind']): Html {
  const shown = members.filter((member) => member.kind === kind);
  return table(
    translator.text(`team.${kind}s`),
    translator.texts('field.name', 'field.contact', 'team.since', 'team.remove'),
    shown.map((member) => {
      const isSelf = kind === 'owner' && member.userId === actor.userId;
      const path = pathOf(client.clientId, 'team', kind, String(member.userId), 'remove');
      return [
        html`<bdi>${member.name}</bdi> ${isSelf && html`(${translator.text('team.you')})`}`,
        html`<bdi>${member.email}</bdi>`,
        timeOf(translator, member.since),
        html`<a href="${path}">${translator.text(isSelf ? 'team.leave' : 'team.remove')}</a>`,
      ];
    }),
    translator.text('team.none'),
  );
}

function invitationsOf({ translator, developer, client, invitations }: TeamView): Html {
  return table(
    translator.text('team.invitations'),
    translator.texts('team.role', 'field.contact', 'secrets.expires', 'team.revoke_invitation'),
    invitations.map(({ id, kind, email, expiresAt }) => [
      translator.text(`team.${kind}`),
      html`<bdi>${email ?? '–'}</bdi>`,
      timeOf(translator, expiresAt),
      postForm(
        developer,
        pathOf(client.clientId, 'invitations', id, 'revoke'),
        button(translator.text('team.revoke_invitation'), 'plain'),
        '',
      ),
    ]),
    translator.text('team.no_invitations'),
  );
}

function inviteForm({ translator, developer, client }: TeamView, kinds: readonly Member['kind'][]): Html {
  const email = {
    name: 'email',
    label: translator.text('team.email'),
    hint: translator.text('team.email_hint'),
    value: '',
    type: 'email',
  } as const;
  return postForm(
    developer,
    pathOf(client.clientId, 'invitations'),
    html`${textField(email)}
      <div class="actions">
        ${kinds.map((kind) => html`<button class="even" name="kind" value="${kind}">${translator.text(`team.invite_${kind}`)}</button>`)}
      </div>`,
  );
}

/** The only page that shows the link of an invitation. @param sent the link, or the address that gets it */
export function invitedPage(
  viewer: Viewer,
  clientId: string,
  sent: { readonly link: string } | { readonly email: string },
): Page {
  const { translator } = viewer;
  return {
    title: translator.text('team.invited'),
    status: 201,
    section: '/',
    content: html`
      ${
        'link' in sent
          ? html`<p role="status">${translator.text('team.invited_text', { days: 7 })}</p>
              <p>${copyable(viewer, 'link', sent.link)}</p>`
          : html`<p role="status">${translator.rich('team.mailed_text', { email: sent.email, days: 7 })}</p>`
      }
      <p><a class="button even" href="${pathOf(clientId, 'team')}">${translator.text('app.team')}</a></p>
    `,
  };
}

export function removePage(viewer: Viewer, client: OwnedClient, member: Member, isSelf: boolean): Page {
  const { translator } = viewer;
  const { kind, name, userId } = member;
  return confirmPage(viewer, {
    title: isSelf ? translator.text('team.leave_title') : translator.text('team.remove_title', { name }),
    text: isSelf ? translator.text('team.leave_text') : translator.rich(`team.remove_${kind}`, { name }),
    path: pathOf(client.clientId, 'team', kind, String(userId), 'remove'),
    button: translator.text(isSelf ? 'team.leave' : 'team.remove'),
    back: pathOf(client.clientId, 'team'),
  });
}

/** Hidden field that identifies the invitation of the page. */
export const SHOWN_INVITATION = 'invitation';

/** Shows what the user would accept. Other users chose the names. */
export function invitationPage(
  viewer: Viewer,
  { kind, name, inviter }: ReceivedInvitation,
  shown: string,
): Page {
  const { translator, developer } = viewer;
  return confirmPage(viewer, {
    title: translator.text('invitation.title'),
    text: html`${translator.rich(`invitation.invites_${kind}`, { name, inviter })}<br />${translator.rich('invitation.text', { name: developer.name })}`,
    path: '/invitation/accept',
    fields: [[SHOWN_INVITATION, shown]],
    button: translator.text('invitation.accept'),
    look: '',
    back: '/',
  });
}

export function acceptedPage({ translator }: Viewer, { clientId, name, kind }: AcceptedMembership): Page {
  return {
    title: translator.text('invitation.title'),
    content: html`
      <p role="status">${translator.rich(`invitation.${kind}`, { name })}</p>
      ${kind === 'tester' && html`<p>${translator.text('tests.text')}</p>`}
      <p>
        <a class="button" href="${kind === 'owner' ? pathOf(clientId) : '/'}"
          >${translator.text(kind === 'owner' ? 'created.next' : 'error.home')}</a
        >
      </p>
    `,
  };
}
