import type { AdministrationSettings } from '#administration/administration.options.js';
import type { ApplyRevocationsRequest } from '#messaging/contract.js';

export { withNats } from '#administration/running-services/nats.js';

export async function applyRevocations(
  natsUrl: string,
  owner: ApplyRevocationsRequest,
  done: string,
): Promise<void> {
  const { RunningServices } = await import('#administration/running-services/running-services.js');
  const scopes = (): never => {
    throw new Error('not used');
  };
  const settings = { NATS_URL: natsUrl } as AdministrationSettings;
  await new RunningServices({ settings, scopes }, null as never).applyRevocations(owner, done);
}
