import type { DatabaseFacts, DatabaseInspection } from '#database/database-inspection.js';
import { type Area, check, type DoctorChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_DATABASE_CHECKS = {
  'migrations-missing': check('error', 'the database has every migration of this version'),
  'database-not-durable': check(
    'error',
    'confirmed changes, such as revocations, survive a crash of PostgreSQL',
    'RFC 7009 2.1',
    'ASVS 5.0 10.4.9',
  ),
  'database-unencrypted': check('warning', 'the connection to PostgreSQL is encrypted', 'ASVS 5.0 12.3.1'),
  'database-superuser': check('warning', 'the role of DATABASE_URL is not a superuser', 'ASVS 5.0 13.2.2'),
  'database-connections': check('warning', 'PostgreSQL has free connections', 'ASVS 5.0 13.2.6'),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_DATABASE_CHECKS);

const NEARLY_FULL = 0.8;

export function databaseArea(inspection: DatabaseInspection): Area {
  return {
    name: 'postgresql',
    checks: DOCTOR_DATABASE_CHECKS,
    examine: async () => examineDatabase(await inspection.facts()),
  };
}

export function examineDatabase(facts: DatabaseFacts): Finding[] {
  return [
    ...migrations(facts),
    ...durability(facts),
    ...connection(facts),
    ...privileges(facts),
    ...freeConnections(facts),
  ];
}

function migrations({ place, pendingMigrations }: DatabaseFacts): Finding[] {
  if (pendingMigrations.length === 0) return [];
  return finding('migrations-missing', place, `it lacks ${pendingMigrations.join(', ')}`);
}

function durability({ place, settings, overrides, hasStandbys }: DatabaseFacts): Finding[] {
  const findings: Finding[] = [];
  const { synchronous_commit: commit } = settings;
  // An override for a role or a database is reported below.
  if (commit === 'off' && overrides.length === 0)
    findings.push(
      ...finding(
        'database-not-durable',
        place,
        'synchronous_commit is off: a crash loses the last confirmed changes, including revocations',
      ),
    );
  if (commit === 'local' && hasStandbys)
    findings.push(
      ...finding(
        'database-not-durable',
        place,
        'synchronous_commit is local: a fail-over to the synchronous standby loses confirmed changes',
      ),
    );
  for (const { role, database, value } of overrides)
    findings.push(
      ...finding(
        'database-not-durable.override',
        place,
        `synchronous_commit is ${value} for ${role ?? 'every role'} in ${database ?? 'every database'}`,
        { role, database },
      ),
    );
  if (settings.fsync === 'off')
    findings.push(
      ...finding(
        'database-not-durable.fsync',
        place,
        'fsync is off: a crash of the machine can destroy the database',
      ),
    );
  if (settings.full_page_writes === 'off')
    findings.push(
      ...finding(
        'database-not-durable.pages',
        place,
        'full_page_writes is off: a crash of the machine can destroy pages of the database',
      ),
    );
  return findings;
}

function connection({ place, encrypted, local }: DatabaseFacts): Finding[] {
  if (encrypted || local) return [];
  return finding(
    'database-unencrypted',
    place,
    'user data and the hashes of secrets cross the network unencrypted',
  );
}

function privileges({ place, role, superuser }: DatabaseFacts): Finding[] {
  if (!superuser) return [];
  return finding(
    'database-superuser',
    place,
    `${role} is a superuser: it can read files and other databases of the server`,
  );
}

function freeConnections({ place, connections, maxConnections }: DatabaseFacts): Finding[] {
  if (connections < NEARLY_FULL * maxConnections) return [];
  return finding(
    'database-connections',
    place,
    `${connections} of ${maxConnections} connections are in use: the next replica may get none`,
  );
}
