import { withStores } from '../connections/database.connection.js';
import { type AnsweredStatus, askServices } from '../connections/status.connection.js';
import { readScopes } from '../scope/read-scopes.js';
import type { DoctorSettings } from '../settings/settings.js';
import { AUDIT_CHECKS, examineBuffers } from './audit.checks.js';
import { type Area, type Finding, noneChecked, type NotChecked } from './finding.js';
import { examineIdTokenKeys, ID_TOKEN_KEY_CHECKS } from './id-token-key.checks.js';
import { examineKeys, KEY_CHECKS } from './key.checks.js';
import { logoutArea } from './logout.area.js';
import {
  type ClockReading,
  examineClocks,
  examineProcesses,
  nameOf,
  type OwnSettings,
  PROCESS_CHECKS,
} from './process.checks.js';
import { examineRedis, type ObservedRedis, REDIS_CHECKS } from './redis.checks.js';

const DEFAULT_SKEW_S = 5;

/** Areas that share one request for the status of all processes. */
export function processAreas(settings: DoctorSettings): Area[] {
  let pending: Promise<AnsweredStatus[]> | undefined;
  const ask = () => (pending ??= askServices(settings.NATS_URL));
  return [
    { name: 'processes', checks: PROCESS_CHECKS, examine: async () => examineAll(settings, await ask()) },
    {
      name: 'keys',
      checks: { ...KEY_CHECKS, ...ID_TOKEN_KEY_CHECKS },
      examine: async () => {
        const statuses = statusesOf(await ask());
        const records = await withStores(settings, ({ tokenKeys }) => tokenKeys.list());
        return [...examineKeys(statuses, records, new Date()), ...examineIdTokenKeys(statuses)];
      },
    },
    { name: 'redis', checks: REDIS_CHECKS, examine: async () => redis(await ask()) },
    {
      name: 'audit',
      checks: AUDIT_CHECKS,
      examine: async () => examineBuffers(statusesOf(await ask())),
    },
    logoutArea(settings, async () => statusesOf(await ask())),
  ];
}

const statusesOf = (answers: readonly AnsweredStatus[]) => answers.map(({ status }) => status);

async function examineAll(
  settings: DoctorSettings,
  answers: readonly AnsweredStatus[],
): Promise<(Finding | NotChecked)[]> {
  const statuses = statusesOf(answers);
  const skews = statuses.map((status) => Number(status.settings?.['CLOCK_SKEW'] ?? DEFAULT_SKEW_S));
  const clocks = [
    ...answers.map(({ status, askedAt, answeredAt }): ClockReading => ({
      place: nameOf(status),
      time: Date.parse(status.time),
      askedAt,
      answeredAt,
    })),
    ...(await databaseClock(settings)),
  ];
  return [
    ...examineProcesses(statuses, {
      version: process.env.SERVICE_VERSION,
      settings: ownSettings(settings),
    }),
    ...examineClocks(clocks, Math.min(DEFAULT_SKEW_S, ...skews)),
  ];
}

/** Empty if PostgreSQL does not answer, because its own area reports that. */
async function databaseClock(settings: DoctorSettings): Promise<ClockReading[]> {
  try {
    const { place, clock } = await withStores(settings, ({ inspection }) => inspection.facts());
    return [{ place: `PostgreSQL ${place}`, ...clock }];
  } catch {
    return [];
  }
}

function ownSettings({ AUTH_URL, BASE_URL, API_URL, DATABASE_SCHEMA }: DoctorSettings): OwnSettings {
  const own = { AUTH_URL, BASE_URL, API_URL, DATABASE_SCHEMA };
  try {
    return { ...own, SCOPES_FILE: `sha256 ${readScopes().digest}` };
  } catch {
    // The area `clients` reports it.
    return own;
  }
}

function redis(answers: readonly AnsweredStatus[]): (Finding | NotChecked)[] {
  const observed = new Map<string, ObservedRedis>();
  for (const { status } of answers) {
    if (!status.redis) continue;
    const key = JSON.stringify(status.redis);
    const seenBy = [...(observed.get(key)?.seenBy ?? []), nameOf(status)];
    observed.set(key, { status: status.redis, seenBy });
  }
  if (observed.size > 0) return examineRedis([...observed.values()]);
  return noneChecked(REDIS_CHECKS, 'no process reports the state of Redis');
}
