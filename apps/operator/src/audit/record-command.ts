import type { AuditRecord } from '#audit/event.js';
import type { AdministrationSettings } from '#administration/administration.options.js';
import { actor } from '../command-line/actor.js';
import { warn } from '../command-line/output.js';
import type { TrailSettings } from '../settings/settings.js';

export async function recordCommand(
  settings: TrailSettings,
  ...records: readonly Omit<AuditRecord, 'operator'>[]
): Promise<void> {
  const { AuditTrail } = await import('#administration/audit/audit-trail.js');
  const trail = new AuditTrail({ settings: settings as AdministrationSettings, scopes: () => never() });
  for (const warning of await trail.record(actor(), ...records)) warn(warning);
}

const never = (): never => {
  throw new Error('not used');
};
