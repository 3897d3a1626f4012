import type { AuditRecord } from '#audit/event.js';
import { changesBetween } from '#audit/changes.js';
import type { TransferredClient } from '../../client-transfer.store.js';
import { describeKeys } from '#oauth/oauth-client.js';
import { digestOf, entryOf } from './client-file.js';
import type { PlannedChange } from './import-plan.js';

/** Returns the events that separate commands would record for this change. */
export function importEvents({ before, after }: PlannedChange): AuditRecord[] {
  const { clientId } = after;
  const [had, has] = [before?.secrets ?? [], after.secrets].map((all) => new Set(all.map(({ id }) => id)));
  const event = (type: AuditRecord['type'], detail?: AuditRecord['detail']): AuditRecord => ({
    type,
    client_id: clientId,
    ...(detail && { detail }),
  });
  const registration = before ? changesBetween(recorded(before), recorded(after)) : {};
  const state = changesBetween({ disabled: before?.disabled ?? false }, { disabled: after.disabled });
  const secretEvents = [
    ...after.secrets
      .filter(({ id }) => before && !had?.has(id))
      .map(({ id }) => event('client_secret.rotated', { secret_id: id })),
    ...[...(had ?? [])]
      .filter((id) => !has?.has(id))
      .map((id) => event('client_secret.revoked', { secret_id: id, live_secrets: after.secrets.length })),
  ];
  return [
    ...(before ? [] : [event('client.created', recorded(after))]),
    ...(registration.changes ? [{ ...event('client.updated'), ...registration }] : []),
    ...secretEvents,
    ...(state.changes ? [{ ...event(after.disabled ? 'client.disabled' : 'client.enabled'), ...state }] : []),
  ];
}

function recorded(client: TransferredClient): Readonly<Record<string, unknown>> {
  const {
    secrets: _,
    logo,
    jwks: _jwks,
    client_id: _id,
    disabled: _disabled,
    ...described
  } = entryOf(client);
  return { ...described, ...describeKeys(client), logo: logo && digestOf(client) };
}
