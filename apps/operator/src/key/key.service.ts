import { randomBytes } from 'node:crypto';
import { recordCommand } from '../audit/record-command.js';
import { generateSigningKey } from '#oauth/openid/generate-keys.js';
import type { SigningAlgorithm } from '#oauth/openid/signing-keys.js';
import { withStores } from '../connections/database.connection.js';
import { runningServices } from '../connections/status.connection.js';
import type { ChangeSettings, IdTokenKeySettings, KeySettings } from '../settings/settings.js';
import { idTokenKeyProblems, idTokenKeyReport, type ReportedIdTokenKey } from './id-token-key-report.js';
import { type IdTokenKeyStep, nextIdTokenStep } from './id-token-rotation.js';
import { type KeyReport, keyReport } from './key-report.js';
import { nextStep, type RotationStep } from './rotation.js';

export async function reportKeys(
  settings: ChangeSettings,
): Promise<KeyReport & { readonly idTokenKeys: readonly ReportedIdTokenKey[] }> {
  const { statuses, records, idTokenRecords, now } = await readKeys(settings);
  const report = keyReport(statuses, records, now);
  const idTokenKeys = idTokenKeyReport(statuses, idTokenRecords, now);
  return { ...report, problems: [...report.problems, ...idTokenKeyProblems(idTokenKeys, now)], idTokenKeys };
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

/** Decides on the next step of a rotation of ID_TOKEN_KEYS, and changes nothing. @throws UnsafeStepError */
export async function prepareIdTokenStep(
  settings: IdTokenKeySettings,
  { begin, alg }: { readonly begin: boolean; readonly alg: SigningAlgorithm | undefined },
): Promise<IdTokenKeyStep> {
  const { idTokenRecords: records, statuses, now } = await readKeys(settings);
  const step = await nextIdTokenStep({
    idTokenKeys: settings.ID_TOKEN_KEYS,
    alg,
    begin,
    statuses,
    records,
    now,
    newKey: generateSigningKey,
  });
  await recordCommand(settings, {
    type: 'operator.command',
    detail: { command: 'keys next', action: step.action, alg: step.alg, keys: step.keys },
  });
  return step;
}

async function readKeys(settings: ChangeSettings) {
  const [statuses, known] = await Promise.all([
    runningServices(settings.NATS_URL),
    withStores(settings, async ({ tokenKeys }) => ({
      records: await tokenKeys.list(),
      idTokenRecords: await tokenKeys.listIdTokenKeys(),
      now: await tokenKeys.now(),
    })),
  ]);
  return { statuses, ...known };
}
