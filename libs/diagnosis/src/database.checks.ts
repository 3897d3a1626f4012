import type { DatabaseFacts, DatabaseInspection } from '#database/database-inspection.js';
import { type Area, declareChecks, type Finding, Findings } from './finding.js';

export const DOCTOR_DATABASE_CHECKS = declareChecks({
  'migrations-missing': 'error: the database has every migration of this version',
  'database-not-durable':
    'error: confirmed changes, such as revocations, survive a crash of PostgreSQL [RFC 7009 2.1; ASVS 5.0 10.4.9]',
  'database-unencrypted': 'warning: the connection to PostgreSQL is encrypted [ASVS 5.0 12.3.1]',
  'database-superuser': 'warning: the role of DATABASE_URL is not a superuser [ASVS 5.0 13.2.2]',
  'database-connections': 'warning: PostgreSQL has free connections [ASVS 5.0 13.2.6]',
});

const NEARLY_FULL = 0.8;

export function databaseArea(inspection: DatabaseInspection): Area {
  return {
    name: 'postgresql',
    checks: DOCTOR_DATABASE_CHECKS,
    examine: async () => examineDatabase(await inspection.facts()),
  };
}

export function examineDatabase(facts: DatabaseFacts): Finding[] {
  const { place, role, pendingMigrations, connections, maxConnections } = facts;
  const findings = new Findings(DOCTOR_DATABASE_CHECKS, place);
  if (pendingMigrations.length > 0)
    findings.add('migrations-missing', `it lacks ${pendingMigrations.join(', ')}`);
  addDurability(findings, facts);
  if (!facts.encrypted && !facts.local)
    findings.add('database-unencrypted', 'user data and the hashes of secrets cross the network unencrypted');
  if (facts.superuser)
    findings.add(
      'database-superuser',
      `${role} is a superuser: it can read files and other databases of the server`,
    );
  if (connections >= NEARLY_FULL * maxConnections)
    findings.add(
      'database-connections',
      `${connections} of ${maxConnections} connections are in use: the next replica may get none`,
    );
  return findings.list;
}

function addDurability(
  findings: Findings<'database-not-durable'>,
  { settings, overrides, hasStandbys }: DatabaseFacts,
): void {
  const { synchronous_commit: commit, fsync, full_page_writes: pages } = settings;
  // An override for a role or a database is reported below.
  if (commit === 'off' && overrides.length === 0)
    findings.add(
      'database-not-durable',
      'synchronous_commit is off: a crash loses the last confirmed changes, including revocations',
    );
  if (commit === 'local' && hasStandbys)
    findings.add(
      'database-not-durable',
      'synchronous_commit is local: a fail-over to the synchronous standby loses confirmed changes',
    );
  for (const { role, database, value } of overrides) {
    const scope = `${role ?? 'every role'} in ${database ?? 'every database'}`;
    findings.add('database-not-durable.override', `synchronous_commit is ${value} for ${scope}`, {
      role,
      database,
    });
  }
  if (fsync === 'off')
    findings.add(
      'database-not-durable.fsync',
      'fsync is off: a crash of the machine can destroy the database',
    );
  if (pages === 'off')
    findings.add(
      'database-not-durable.pages',
      'full_page_writes is off: a crash of the machine can destroy pages of the database',
    );
}
