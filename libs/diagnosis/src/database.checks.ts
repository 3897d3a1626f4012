import type { DatabaseFacts } from '#database/database-inspection.js';
import { check, type DoctorChecks, type Finding, findingOf, step } from './finding.js';

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
  return finding(
    'migrations-missing',
    place,
    `it lacks ${pendingMigrations.join(', ')}`,
    step('apply them', 'migrate'),
  );
}

function durability({ place, settings, overrides, hasStandbys }: DatabaseFacts): Finding[] {
  const findings: Finding[] = [];
  const add = (problem: string, remedy: string) =>
    findings.push(...finding('database-not-durable', place, problem, remedy));
  const { synchronous_commit: commit } = settings;
  // An override for a role or a database is reported below.
  if (commit === 'off' && overrides.length === 0)
    add(
      'synchronous_commit is off: a crash loses the last confirmed changes, including revocations',
      'ALTER SYSTEM SET synchronous_commit = on, then SELECT pg_reload_conf()',
    );
  if (commit === 'local' && hasStandbys)
    add(
      'synchronous_commit is local: a fail-over to the synchronous standby loses confirmed changes',
      'ALTER SYSTEM SET synchronous_commit = on, then SELECT pg_reload_conf()',
    );
  for (const { role, database, value } of overrides)
    add(
      `synchronous_commit is ${value} for ${role ?? 'every role'} in ${database ?? 'every database'}`,
      `ALTER ${role === null ? `DATABASE ${database}` : `ROLE ${role}${database === null ? '' : ` IN DATABASE ${database}`}`} RESET synchronous_commit`,
    );
  if (settings.fsync === 'off')
    add(
      'fsync is off: a crash of the machine can destroy the database',
      'set fsync = on and restart PostgreSQL',
    );
  if (settings.full_page_writes === 'off')
    add(
      'full_page_writes is off: a crash of the machine can destroy pages of the database',
      'ALTER SYSTEM SET full_page_writes = on, then SELECT pg_reload_conf()',
    );
  return findings;
}

function connection({ place, encrypted, local }: DatabaseFacts): Finding[] {
  if (encrypted || local) return [];
  return finding(
    'database-unencrypted',
    place,
    'user data and the hashes of secrets cross the network unencrypted',
    'turn on TLS in PostgreSQL (ssl = on), and add ?sslmode=verify-full to DATABASE_URL of every app',
  );
}

function privileges({ place, role, superuser }: DatabaseFacts): Finding[] {
  if (!superuser) return [];
  return finding(
    'database-superuser',
    place,
    `${role} is a superuser: it can read files and other databases of the server`,
    'create a role that only owns the schema, and set it in DATABASE_URL',
  );
}

function freeConnections({ place, connections, maxConnections }: DatabaseFacts): Finding[] {
  if (connections < NEARLY_FULL * maxConnections) return [];
  return finding(
    'database-connections',
    place,
    `${connections} of ${maxConnections} connections are in use: the next replica may get none`,
    'raise max_connections, or use fewer replicas: docs/sizing.md',
  );
}
