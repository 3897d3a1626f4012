import type { DatabaseInspection } from '#database/database-inspection.js';
import type { TokenKeyStore } from '#keys/token-key.store.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { type AdministrationOptions, SETTING_VARIABLES } from '#operations/administration.options.js';
import type { AnsweredStatus } from '#operations/running-services/status.js';
import { processName } from '#operations/wording.js';
import { type Area, type Finding, noneChecked, type NotChecked } from './finding.js';
import {
  DOCTOR_ID_TOKEN_KEY_CHECKS,
  DOCTOR_KEY_CHECKS,
  examineIdTokenKeys,
  examineKeys,
} from './key.checks.js';
import {
  type ClockReading,
  DOCTOR_AUDIT_CHECKS,
  DOCTOR_PROCESS_CHECKS,
  DOCTOR_RIGHTS_CHECKS,
  examineBuffers,
  examineClocks,
  examineProcesses,
  examineRights,
  type OwnSettings,
} from './process.checks.js';
import { examineRedis, type ObservedRedis, DOCTOR_REDIS_CHECKS } from './redis.checks.js';

const DEFAULT_SKEW_S = 5;

interface Sources {
  readonly options: AdministrationOptions;
  readonly inspection: DatabaseInspection;
  readonly tokenKeys: TokenKeyStore;
}

export function processAreas(
  { options, inspection, tokenKeys }: Sources,
  ask: () => Promise<readonly AnsweredStatus[]>,
): Area[] {
  return [
    {
      name: 'processes',
      checks: { ...DOCTOR_PROCESS_CHECKS, ...DOCTOR_RIGHTS_CHECKS },
      examine: async () => {
        const answers = await ask();
        return [
          ...(await examineAll(options, inspection, answers)),
          ...(await rights(inspection, statusesOf(answers))),
        ];
      },
    },
    {
      name: 'keys',
      checks: { ...DOCTOR_KEY_CHECKS, ...DOCTOR_ID_TOKEN_KEY_CHECKS },
      examine: async () => {
        const statuses = statusesOf(await ask());
        const records = await tokenKeys.list();
        return [...examineKeys(statuses, records, new Date()), ...examineIdTokenKeys(statuses)];
      },
    },
    { name: 'redis', checks: DOCTOR_REDIS_CHECKS, examine: async () => redis(await ask()) },
    {
      name: 'audit',
      checks: DOCTOR_AUDIT_CHECKS,
      examine: async () => examineBuffers(statusesOf(await ask())),
    },
  ];
}

export const statusesOf = (answers: readonly AnsweredStatus[]): ServiceStatus[] =>
  answers.map(({ status }) => status);

async function examineAll(
  options: AdministrationOptions,
  inspection: DatabaseInspection,
  answers: readonly AnsweredStatus[],
): Promise<(Finding | NotChecked)[]> {
  const statuses = statusesOf(answers);
  const skews = statuses.map((status) => Number(status.settings?.['CLOCK_SKEW'] ?? DEFAULT_SKEW_S));
  const clocks = [
    ...answers.map(({ status, askedAt, answeredAt }): ClockReading => ({
      place: processName(status),
      time: Date.parse(status.time),
      askedAt,
      answeredAt,
    })),
    ...(await databaseClock(inspection)),
  ];
  return [
    ...examineProcesses(statuses, {
      version: options.version,
      settings: ownSettings(options),
    }),
    ...examineClocks(clocks, Math.min(DEFAULT_SKEW_S, ...skews)),
  ];
}

/** Includes this process, unless PostgreSQL does not answer. */
async function rights(
  inspection: DatabaseInspection,
  statuses: readonly ServiceStatus[],
): Promise<Finding[]> {
  const own = await inspection.rights().catch(() => null);
  return [
    ...statuses.flatMap((status) => [
      ...examineRights('PostgreSQL', processName(status), status.database_rights),
      ...examineRights('Redis', processName(status), status.redis_rights),
    ]),
    ...examineRights('PostgreSQL', 'this process', own ?? undefined),
  ];
}

/** Returns an empty array if PostgreSQL does not answer, because the area `postgresql` reports the outage. */
async function databaseClock(inspection: DatabaseInspection): Promise<ClockReading[]> {
  try {
    const { place, clock } = await inspection.facts();
    return [{ place: `PostgreSQL ${place}`, ...clock }];
  } catch {
    return [];
  }
}

function ownSettings(options: AdministrationOptions): OwnSettings {
  const shared = ['authUrl', 'baseUrl', 'apiUrl', 'databaseSchema'] as const;
  const own = Object.fromEntries(
    shared.map((setting) => [SETTING_VARIABLES[setting], options.settings[setting]]),
  );
  try {
    return { ...own, SCOPES_FILE: `sha256 ${options.scopes().digest}` };
  } catch {
    // The area `clients` reports the invalid file.
    return own;
  }
}

function redis(answers: readonly AnsweredStatus[]): (Finding | NotChecked)[] {
  const observed = new Map<string, ObservedRedis>();
  for (const { status } of answers) {
    if (!status.redis) continue;
    const key = JSON.stringify(status.redis);
    const seenBy = [...(observed.get(key)?.seenBy ?? []), processName(status)];
    observed.set(key, { status: status.redis, seenBy });
  }
  if (observed.size > 0) return examineRedis([...observed.values()]);
  return noneChecked(DOCTOR_REDIS_CHECKS, 'no process reports the state of Redis');
}
