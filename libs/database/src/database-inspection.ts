import { DataSource } from 'typeorm';
import { databaseAddress } from '#platform/postgres/postgres-errors.js';
import type { RightsDifference } from '#platform/status/status-report.js';
import { pendingMigrationsOf } from './migrate.js';
import { rightsDifference } from './rights-inspection.js';
import type { DatabaseProcess } from './roles.js';

/** Settings that determine which data a crash loses, as `SHOW` prints them. */
interface DurabilitySettings {
  readonly synchronous_commit: string;
  readonly fsync: string;
  readonly full_page_writes: string;
}

/** `synchronous_commit` of `off` or `local`, set by ALTER ROLE or ALTER DATABASE. A null role or database means all. */
interface CommitOverride {
  readonly role: string | null;
  readonly database: string | null;
  readonly value: string;
}

export interface DatabaseFacts {
  readonly place: string;
  readonly version: string;
  readonly role: string;
  readonly superuser: boolean;
  readonly encrypted: boolean;
  readonly local: boolean;
  readonly settings: DurabilitySettings;
  readonly overrides: readonly CommitOverride[];
  readonly hasStandbys: boolean;
  readonly connections: number;
  readonly maxConnections: number;
  readonly pendingMigrations: readonly string[];
  /** The server's clock, read between `askedAt` and `answeredAt` on our clock; milliseconds since the epoch. */
  readonly clock: { readonly time: number; readonly askedAt: number; readonly answeredAt: number };
}

type Row = Omit<DatabaseFacts, 'place' | 'overrides' | 'pendingMigrations' | 'clock' | 'settings'> &
  DurabilitySettings;

/** Reads the state of the database server. Needs no special privileges. */
export class DatabaseInspection {
  constructor(
    private readonly dataSource: DataSource,
    private readonly databaseUrl: string,
    private readonly process?: DatabaseProcess,
  ) {}

  /** Compares the rights of this connection with the rights that the process needs; null for an unknown process. */
  async rights(): Promise<RightsDifference | null> {
    return this.process === undefined ? null : rightsDifference(this.dataSource, this.process);
  }

  async facts(): Promise<DatabaseFacts> {
    const askedAt = Date.now();
    const [now] = await this.dataSource.query<{ time: Date }[]>('SELECT clock_timestamp() AS time');
    const answeredAt = Date.now();
    const [row] = await this.dataSource.query<Row[]>(
      `SELECT current_setting('server_version') AS version, current_user AS role, r.rolsuper AS superuser,
              coalesce(s.ssl, false) AS encrypted,
              coalesce(inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', true) AS local,
              current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync,
              current_setting('full_page_writes') AS full_page_writes,
              current_setting('synchronous_standby_names') <> '' AS "hasStandbys",
              (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
              current_setting('max_connections')::integer AS "maxConnections"
       FROM pg_roles r LEFT JOIN pg_stat_ssl s ON s.pid = pg_backend_pid() WHERE r.rolname = current_user`,
    );
    if (!row || !now) throw new Error('PostgreSQL does not list the role of this connection');
    const { synchronous_commit, fsync, full_page_writes, ...rest } = row;
    return {
      ...rest,
      place: databaseAddress(this.databaseUrl),
      settings: { synchronous_commit, fsync, full_page_writes },
      overrides: await this.overrides(),
      pendingMigrations: await pendingMigrationsOf(this.dataSource),
      clock: { time: now.time.getTime(), askedAt, answeredAt },
    };
  }

  private overrides(): Promise<CommitOverride[]> {
    return this.dataSource.query<CommitOverride[]>(
      `SELECT r.rolname AS role, d.datname AS database, split_part(setting, '=', 2) AS value
       FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole LEFT JOIN pg_database d ON d.oid = s.setdatabase,
            unnest(s.setconfig) AS setting
       WHERE setting ~ '^synchronous_commit=(off|local)$' AND (s.setdatabase = 0 OR d.datname = current_database())
       ORDER BY 1, 2`,
    );
  }
}
