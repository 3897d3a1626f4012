import { randomBytes } from 'node:crypto';
import { recordCommand } from '../audit/record-command.js';
import { withStores } from '../connections/database.connection.js';
import { runningServices } from '../connections/status.connection.js';
import type { ChangeSettings, KeySettings } from '../settings/settings.js';
import { type KeyReport, keyReport } from './key-report.js';
import { nextStep, type RotationStep } from './rotation.js';

/** The key ring of every running process. */
export async function reportKeys(settings: ChangeSettings): Promise<KeyReport> {
  const { statuses, records } = await readKeys(settings);
  return keyReport(statuses, records, new Date());
}

/**
 * The next step of the rotation of TOKEN_KEYS. Changes nothing: the operator does.
 *
 * @throws UnsafeStepError
 */
export async function prepareStep(settings: KeySettings, begin: boolean): Promise<RotationStep> {
  const step = nextStep({
    tokenKeys: settings.TOKEN_KEYS,
    begin,
    ...(await readKeys(settings)),
    now: new Date(),
    newKey: () => randomBytes(32).toString('base64url'),
  });
  await recordCommand(settings.NATS_URL, {
    type: 'operator.command',
    detail: { command: 'keys next', action: step.action, keys: step.keys },
  });
  return step;
}

async function readKeys(settings: ChangeSettings) {
  const [statuses, records] = await Promise.all([
    runningServices(settings.NATS_URL),
    withStores(settings, ({ tokenKeys }) => tokenKeys.list()),
  ]);
  return { statuses, records };
}
