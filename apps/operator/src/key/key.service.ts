import { randomBytes } from 'node:crypto';
import { recordCommand } from '../audit/record-command.js';
import { withStores } from '../connections/database.connection.js';
import { runningServices } from '../connections/status.connection.js';
import type { ChangeSettings, KeySettings } from '../settings/settings.js';
import { idTokenKeyReport, type ReportedIdTokenKey } from './id-token-key-report.js';
import { type KeyReport, keyReport } from './key-report.js';
import { nextStep, type RotationStep } from './rotation.js';

export async function reportKeys(
  settings: ChangeSettings,
): Promise<KeyReport & { readonly idTokenKeys: readonly ReportedIdTokenKey[] }> {
  const { statuses, records, now } = await readKeys(settings);
  return { ...keyReport(statuses, records, now), idTokenKeys: idTokenKeyReport(statuses) };
}

/** Decides on the next step of a rotation of TOKEN_KEYS, and changes nothing. @throws UnsafeStepError */
export async function prepareStep(settings: KeySettings, begin: boolean): Promise<RotationStep> {
  const step = nextStep({
    tokenKeys: settings.TOKEN_KEYS,
    begin,
    ...(await readKeys(settings)),
    newKey: () => randomBytes(32).toString('base64url'),
  });
  await recordCommand(settings, {
    type: 'operator.command',
    detail: { command: 'keys next', action: step.action, keys: step.keys },
  });
  return step;
}

async function readKeys(settings: ChangeSettings) {
  const [statuses, known] = await Promise.all([
    runningServices(settings.NATS_URL),
    withStores(settings, async ({ tokenKeys }) => ({
      records: await tokenKeys.list(),
      now: await tokenKeys.now(),
    })),
  ]);
  return { statuses, ...known };
}
