import type { AdministrationSettings } from '../administration.options.js';

export type TrailSettings = Pick<AdministrationSettings, 'NATS_URL' | 'AUDIT_NATS_URL'>;

export function trailServer({ NATS_URL, AUDIT_NATS_URL }: TrailSettings): { url: string; variable: string } {
  return AUDIT_NATS_URL === ''
    ? { url: NATS_URL, variable: 'NATS_URL' }
    : { url: AUDIT_NATS_URL, variable: 'AUDIT_NATS_URL' };
}
