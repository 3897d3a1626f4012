import { withStores } from '../connections/database.connection.js';
import type { DatabaseSettings } from '../settings/settings.js';
import { DATABASE_CHECKS, examineDatabase } from './database.checks.js';
import type { Area } from './finding.js';

export function databaseArea(settings: DatabaseSettings): Area {
  return {
    name: 'postgresql',
    checks: DATABASE_CHECKS,
    examine: async () => examineDatabase(await withStores(settings, ({ inspection }) => inspection.facts())),
  };
}
