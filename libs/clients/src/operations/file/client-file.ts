import { createHash } from 'node:crypto';
import { Document, Scalar } from 'yaml';
import { FLAG_NAMES } from '../../client-flags.js';
import type { TransferredClient } from '../../client-transfer.store.js';
import { hasKeys } from '#oauth/oauth-client.js';
import { memberOf } from '#operations/member-names.js';
import { describeGrantTypes, describeRegistration } from '../client.description.js';

export const VERSION = 1;

export const MEMBERS: readonly string[] = [
  'client_id',
  'name',
  'type',
  'redirect_uris',
  'private_schemes',
  'scopes',
  'optional_scopes',
  ...FLAG_NAMES,
  'id_token_alg',
  'subject',
  'post_logout_redirect_uris',
  'backchannel_logout_uri',
  'client_uri',
  'policy_uri',
  'contacts',
  'disabled',
  'created_at',
  'grant_types',
  'profile',
  'dpop_bound_access_tokens',
  'refresh_token_rotation',
  'jwks',
  'jwks_uri',
  'events_url',
  'events',
  'secrets',
  'logo',
];

export function fileMemberOf(field: string): string {
  return field === 'grantType' || field === 'deviceGrant' ? 'grant_types' : memberOf(field);
}

const LINE = 100;

export function entryOf(client: TransferredClient) {
  const { type, secrets, logo, receiver } = client;
  return {
    ...describeRegistration(client),
    disabled: client.disabled,
    created_at: client.createdAt.toISOString(),
    ...describeGrantTypes(client),
    ...(client.profile !== null && { profile: client.profile }),
    ...(client.dpopBound && { dpop_bound_access_tokens: true }),
    ...(client.keepsRefreshToken && { refresh_token_rotation: false }),
    ...(client.jwks !== null && { jwks: client.jwks }),
    ...(client.jwksUri !== null && { jwks_uri: client.jwksUri }),
    ...(receiver && { events_url: receiver.eventsUrl, events: receiver.events }),
    ...(type === 'confidential' &&
      !hasKeys(client) && {
        // Sorted by day and id, because the file omits the time of day. Every installation then exports the same text.
        secrets: secrets
          .map(({ id, hash, createdAt }) => ({
            id,
            sha256: hash.toString('hex'),
            created_on: createdAt.toISOString().slice(0, 10),
          }))
          .toSorted((a, b) => (a.created_on + a.id < b.created_on + b.id ? -1 : 1)),
      }),
    logo: logo && { media_type: logo.mediaType, image: logo.image.toString('base64') },
  };
}

/** @param comment introduces the file */
export function clientFile(clients: readonly TransferredClient[], comment: string): string {
  const document = new Document({ version: VERSION, clients: clients.map(entryOf) });
  document.commentBefore = comment;
  clients.forEach(({ logo }, index) => {
    if (logo) document.setIn(['clients', index, 'logo', 'image'], wrapped(logo.image));
  });
  return document.toString({ lineWidth: 0 });
}

/** Returns YAML for a diff, with the SHA-256 of each logo instead of the image. */
export function summaryOf(clients: readonly TransferredClient[]): string {
  const entries = clients.map((client) => {
    const { logo, ...entry } = entryOf(client);
    return { ...entry, logo: logo && `${logo.media_type}, sha256 ${digestOf(client)}` };
  });
  return entries.length === 0 ? '' : new Document({ clients: entries }).toString({ lineWidth: 0 });
}

export function changedFields(before: TransferredClient, after: TransferredClient): string[] {
  const [old, now] = [entryOf(before), entryOf(after)] as Record<string, unknown>[];
  return MEMBERS.filter((member) => JSON.stringify(old?.[member]) !== JSON.stringify(now?.[member]));
}

export function digestOf({ logo }: TransferredClient): string {
  return createHash('sha256')
    .update(logo?.image ?? '')
    .digest('hex');
}

/** Splits Base64 into lines, because a changed logo would otherwise be one line in a diff. */
function wrapped(image: Buffer): Scalar {
  const lines = image.toString('base64').match(new RegExp(`.{1,${LINE}}`, 'g')) ?? [];
  const scalar = new Scalar(`${lines.join('\n')}\n`);
  scalar.type = Scalar.BLOCK_LITERAL;
  return scalar;
}
