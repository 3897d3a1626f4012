import type { AuditRecord } from '#audit/event.js';
import { describeKeys } from '../client/client.description.js';
import { entryOf } from './client-file.js';
import type { PlannedChange } from './import-plan.js';

/** Returns the events that separate commands would record for this change. */
export function importEvents({ before, after, fields }: PlannedChange): AuditRecord[] {
  const { secrets: _secrets, logo: _logo, jwks: _jwks, client_id: clientId, ...described } = entryOf(after);
  const registration = { ...described, ...describeKeys(after) };
  const [had, has] = [before?.secrets ?? [], after.secrets].map((all) => new Set(all.map(({ id }) => id)));
  const event = (type: AuditRecord['type'], detail?: AuditRecord['detail']): AuditRecord => ({
    type,
    client_id: clientId,
    ...(detail && { detail }),
  });
  const secretEvents = [
    ...after.secrets
      .filter(({ id }) => before && !had?.has(id))
      .map(({ id }) => event('client_secret.rotated', { secret_id: id })),
    ...[...(had ?? [])]
      .filter((id) => !has?.has(id))
      .map((id) => event('client_secret.revoked', { secret_id: id, live_secrets: after.secrets.length })),
  ];
  const isState = (field: string): boolean => field === 'secrets' || field === 'disabled';
  return [
    ...(before ? [] : [event('client.created', registration)]),
    ...(fields.every(isState) ? [] : [event('client.updated', { ...registration, fields })]),
    ...secretEvents,
    ...(after.disabled === (before?.disabled ?? false)
      ? []
      : [event(after.disabled ? 'client.disabled' : 'client.enabled')]),
  ];
}
