import { type ChangedField, changedFields } from '#audit/operations/changed-fields.js';
import type { ClientService } from '#clients/operations/client.service.js';
import type { UserService } from '#users/operations/user.service.js';
import type { AuditEvent, AuditType } from '#audit/event.js';
import { html, type Html } from '#ui/html.js';
import { pathOf } from '../applications/application.page.js';
import { facts } from '#pages/components.js';
import { referenceLink } from '../ui/console-components.js';
import { phrase } from '#pages/format.js';

/** Texts that follow the name of the actor. */
const TEXTS: Readonly<Record<AuditType, string>> = {
  'client.created': 'registered the application',
  'client.updated': 'changed the application',
  'client.disabled': 'disabled the application',
  'client.enabled': 'enabled the application',
  'client.deleted': 'deleted the application',
  'client_secret.rotated': 'created a client secret',
  'client_secret.revoked': 'revoked a client secret',
  'client_request.submitted': 'requested a review',
  'client_request.answered': 'answered or revised the request',
  'client_request.withdrawn': 'withdrew the request',
  'client_request.asked': 'asked the owner of the application',
  'client_request.approved': 'approved the request',
  'client_request.rejected': 'rejected the request',
  'client_member.invited': 'invited an owner or tester',
  'client_member.added': 'added an owner or tester',
  'client_member.removed': 'removed an owner or tester',
  'resource_server.created': 'registered a resource server',
  'resource_server.updated': 'changed a resource server',
  'resource_server.revoked': 'revoked a resource server',
  'console_operator.granted': 'granted the user a console role',
  'console_operator.revoked': 'removed the user’s console role',
  'console_operator.invited': 'invited an operator',
  'console_operator.uninvited': 'withdrew the invitation of an operator',
  'user.created': 'created the user',
  'user.imported': 'imported users',
  'user.updated': 'changed the user',
  'user.disabled': 'disabled the user',
  'user.enabled': 'enabled the user',
  'user.deleted': 'deleted the user',
  'user.logged_out': 'logged the user out',
  'user.password_changed': 'changed the password of the user',
  'token.reuse_detected': 'reused a code or refresh token: its grant was revoked',
  'token_key.changed': 'started with another signing key',
  'operator.command': 'ran a command',
  'login.succeeded': 'logged in',
  'login.ended': 'logged out',
  'consent.allowed': 'allowed access',
  'consent.denied': 'denied access',
  'token.issued': 'got tokens',
  'token.refreshed': 'refreshed tokens',
  'token.retried': 'retried a token request',
  'grant.revoked': 'revoked access',
  'logout_token.failed': 'rejected a logout token',
  'event.failed': 'did not accept a security event',
  'login.refused': 'failed to log in',
  'request.throttled': 'sent too many requests',
  'request.refused': 'sent a request that was refused',
};

/** Uses `hasOwn`, because a publisher could choose a type such as `constructor`. */
export function textOf({ type, detail = {} }: AuditEvent): string {
  const text = Object.hasOwn(TEXTS, type) ? TEXTS[type] : type;
  const { command } = detail;
  // The token app stores this event when it applies revocations that PostgreSQL has already recorded.
  if (detail['recorded_revocations'] !== undefined) return 'applied the revocation';
  return type === 'operator.command' && typeof command === 'string' ? `${text}: ${command}` : text;
}

const USERS_ACT: ReadonlySet<AuditType> = new Set([
  'login.succeeded',
  'login.ended',
  'login.refused',
  'consent.allowed',
  'consent.denied',
]);

/** Names of the applications and users of events; deleted ones are missing. The trail stores no names. */
export interface EventNames {
  readonly clients: ReadonlyMap<string, string>;
  readonly users: ReadonlyMap<number, string>;
}

export async function namesOf(
  events: readonly Pick<AuditEvent, 'client_id' | 'user_id'>[],
  clients: ClientService,
  users: UserService,
): Promise<EventNames> {
  const clientIds = events.flatMap(({ client_id: id }) => id ?? []);
  const userIds = events.flatMap(({ user_id: id }) => id ?? []);
  const names = await Promise.all([
    clients.names([...new Set(clientIds)]),
    users.names([...new Set(userIds)]),
  ]);
  return { clients: names[0], users: names[1] };
}

export function actorOfEvent(event: AuditEvent, names: EventNames): Html {
  const { operator, type, client_id: client, user_id: user, service, detail = {} } = event;
  if (operator !== undefined) return html`<bdi>${operator}</bdi>`;
  if (detail['by'] === 'product') return html`the product`;
  const isUsers = USERS_ACT.has(type) || (type === 'grant.revoked' && service === 'authorize');
  if (isUsers) return user === undefined ? html`a user` : userLink(user, names);
  if (client !== undefined) return clientLink(client, names);
  if (type.startsWith('request.'))
    return user === undefined ? html`an unknown caller` : userLink(user, names);
  return html`${phrase('the {service} service', { service })}`;
}

const CHANNELS = { api: 'HTTP API', page: 'console' } as const;

/** Returns the channel of an operator's event, or the service of any other event. */
export function channelOf({ operator, channel, service, type }: AuditEvent): string {
  if (channel) return Object.hasOwn(CHANNELS, channel) ? CHANNELS[channel] : channel;
  if (operator === undefined) return service;
  // Operators log in only at the console.
  return type.startsWith('login.') ? CHANNELS.page : 'command line';
}

export function userLink(id: number, { users }: EventNames): Html {
  const name = users.get(id);
  return name === undefined
    ? html`<a href="/users/${id}">${phrase('user {id}', { id: String(id) })}</a>`
    : html`<a href="/users/${id}"><bdi>${name}</bdi></a> <span class="quiet">id:${id}</span>`;
}

export function clientLink(id: string, { clients }: Pick<EventNames, 'clients'>): Html {
  const name = clients.get(id);
  return name === undefined
    ? html`<a href="${pathOf(id)}"><code>${id}</code></a>`
    : html`<a href="${pathOf(id)}"><bdi>${name}</bdi></a> <code>${id}</code>`;
}

export function grantLink(id: string): Html {
  return html`<a href="/audit?${new URLSearchParams({ grant: id }).toString()}"><code>${id}</code></a>`;
}

/** Links to the application and the user of an event, except the actor. */
export function objectsOf(event: AuditEvent, names: EventNames): Html {
  const actor = actorOfEvent(event, names).text;
  const { client_id: client, user_id: user } = event;
  const all = [
    client === undefined ? null : clientLink(client, names),
    user === undefined ? null : userLink(user, names),
  ].filter((object) => object !== null && object.text !== actor);
  return html`${all.map((object, index) => html`${index > 0 && html`<br />`}${object}`)}`;
}

export function detailsOf({
  reference,
  status,
  error,
  check,
  request,
  address,
  user_agent,
  ...event
}: AuditEvent): Html {
  const detail = Object.entries(event.detail ?? {});
  const content = facts([
    ['Reference', reference !== undefined && referenceLink(reference)],
    ['Failed check', check],
    ['Response', [status, error].filter((part) => part !== undefined).join(' ')],
    ['Description', event.description],
    ['Grant', event.grant_id !== undefined && grantLink(event.grant_id)],
    ['Request', request && html`<code>${request.method} ${request.path}</code>`],
    ['Address', address],
    ['User agent', user_agent],
    ...changedFields(event).map((field) => [field.name, differenceOf(field)] as const),
    ...detail.map(
      ([name, value]) =>
        [name, html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`] as const,
    ),
    ['Event', html`<code>${event.type}</code>, <code>${event.id}</code>`],
  ]);
  return html`<details>
    <summary>${check ?? changedNames(event) ?? 'Details'}</summary>
    ${content}
  </details>`;
}

function changedNames(event: AuditEvent): string | undefined {
  const names = changedFields(event).map(({ name }) => name);
  return names.length === 0 ? undefined : phrase('Changed: {names}', { names: names.join(', ') });
}

function differenceOf({ removed, added, omitted }: ChangedField): Html {
  if (omitted === 'secret') return html`changed; secret values are never recorded`;
  if (omitted !== null) return html`changed; personal values are not recorded`;
  return html`${removed.map((value) => html`<del>${value}</del><br />`)}${added.map((value) => html`<ins>${value}</ins><br />`)}`;
}
