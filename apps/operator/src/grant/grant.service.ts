import { quoted } from '#administration/text.js';
import type { AuditRecord } from '#audit/event.js';
import type { AdministeredGrant, GrantOwner, GrantPage } from '#database/grant/grant-administration.store.js';
import { recordCommand } from '../audit/record-command.js';
import { InputError } from '../command-line/input.js';
import { commandToPaste } from '../command-line/shell.js';
import { identifyClient, unknownClient } from '#administration/client/client-lookup.js';
import { withStores } from '../connections/database.connection.js';
import { applyRevocations } from '../connections/nats.connection.js';
import type { Stores } from '../connections/stores.js';
import type { ChangeSettings, DatabaseSettings } from '../settings/settings.js';
import { findUser } from '../user/user.service.js';
import type { GrantListDto, GrantRevocationDto } from './grant.dto.js';

/** @returns `more`: there is another page */
export async function listGrants(
  settings: DatabaseSettings,
  { user, client, ...page }: GrantListDto,
): Promise<{ page: AdministeredGrant[]; more: boolean }> {
  return withStores(settings, async (stores) => {
    const owner = await ownerOf(stores, user, client);
    // One extra row shows whether there is another page.
    const wanted: GrantPage = { ...page, limit: page.limit + 1 };
    const found = await stores.grants.list(owner, wanted);
    return { page: found.slice(0, page.limit), more: found.length > page.limit };
  });
}

/** @throws InputError if the grant does not exist */
export async function findGrant(settings: DatabaseSettings, id: string): Promise<AdministeredGrant> {
  const grant = await withStores(settings, ({ grants }) => grants.find(id));
  if (!grant)
    throw new InputError([
      `there is no grant ${quoted(id)}. See:${commandToPaste('grant', 'list', '--ended')}`,
    ]);
  return grant;
}

export interface RevocationDialog {
  /** @param live number of live grants @returns false to cancel */
  confirm(live: number): Promise<boolean>;
  progress(revoked: number, live: number): void;
}

/** Revokes a grant. Safe to repeat. @returns false if it was not live */
export async function revokeGrant(settings: ChangeSettings, id: string): Promise<boolean> {
  const { userId, clientId } = await findGrant(settings, id);
  const revoked = await withStores(settings, ({ records }) => records.revoke(id));
  const event = { type: 'grant.revoked', client_id: clientId, user_id: userId, grant_id: id } as const;
  try {
    await applyRevocations(settings.NATS_URL, { user_id: userId }, 'the grant is revoked');
  } finally {
    await recordCommand(settings, event);
  }
  return revoked;
}

/** Completes one client after the other. Safe to repeat. @returns number of revoked grants; null if the operator cancels */
export async function revokeGrants(
  settings: ChangeSettings,
  { user, client }: GrantRevocationDto,
  dialog: RevocationDialog,
): Promise<number | null> {
  return withStores(settings, async (stores) => {
    const owner = await ownerOf(stores, user, client);
    const clients = await stores.grants.countLive(owner);
    const live = clients.reduce((sum, { count }) => sum + count, 0);
    if (!(await dialog.confirm(live))) return null;
    // Continues without live grants: an earlier run may have revoked grants without informing the services.
    const owners = owner.userId === undefined && !owner.clientId ? clients : [owner];
    let revoked = 0;
    try {
      for (const { clientId } of owners) {
        await stores.grants.revoke({ ...owner, clientId }, (count) => {
          revoked += count;
          dialog.progress(revoked, live);
        });
        const request =
          owner.userId === undefined ? { client_id: clientId ?? '' } : { user_id: owner.userId };
        await applyRevocations(settings.NATS_URL, request, 'the grants are revoked');
      }
    } finally {
      await recordCommand(settings, revocationOf(owner, revoked));
    }
    return revoked;
  });
}

/** One audit event per command, not per grant. */
function revocationOf({ userId, clientId }: GrantOwner, revoked: number): AuditRecord {
  return {
    type: userId === undefined && clientId === undefined ? 'operator.command' : 'grant.revoked',
    ...(clientId !== undefined && { client_id: clientId }),
    ...(userId !== undefined && { user_id: userId }),
    detail: { command: 'grant revoke', revoked_grants: revoked },
  };
}

async function ownerOf(stores: Stores, login?: string, client?: string): Promise<GrantOwner> {
  const user = login === undefined ? undefined : await findUser(stores, login);
  const clientId = client === undefined ? undefined : await identifyClient(stores.clients, client);
  // All grants of a deleted client are already revoked.
  if (clientId !== undefined && !(await stores.clients.find(clientId))) throw unknownClient(clientId);
  return { userId: user?.id, clientId };
}
