import type { DatabaseInspection } from '#database/database-inspection.js';
import { DOCTOR_DATABASE_CHECKS, examineDatabase } from './database.checks.js';
import type { Area } from './finding.js';

export function databaseArea(inspection: DatabaseInspection): Area {
  return {
    name: 'postgresql',
    checks: DOCTOR_DATABASE_CHECKS,
    examine: async () => examineDatabase(await inspection.facts()),
  };
}
