import { Logger } from '@nestjs/common';
import { DataSource, type DataSourceOptions, type Logger as TypeOrmLogger } from 'typeorm';
import { eachServer } from '#platform/configuration/each-server.js';
import { ClientLogoEntity } from '../client/client-logo.entity.js';
import { ClientSecretEntity } from '../client/client-secret.entity.js';
import { ClientEntity } from '../client/client.entity.js';
import { GrantRecordEntity } from '../grant/grant-record.entity.js';
import { ImpatientClient } from './fail-fast-client.js';
import { CreateDirectory1795219200000 } from '../migrations/1795219200000-create-directory.js';
import { RequirePar1795300000000 } from '../migrations/1795300000000-require-par.js';
import { CreateResourceServers1795310000000 } from '../migrations/1795310000000-create-resource-servers.js';
import { ClientScopes1795310100000 } from '../migrations/1795310100000-client-scopes.js';
import { ClientDeletion1795310200000 } from '../migrations/1795310200000-client-deletion.js';
import { Pages1795320000000 } from '../migrations/1795320000000-pages.js';
import { GoneUsers1795330000000 } from '../migrations/1795330000000-gone-users.js';
import { RevocationOutbox1795340000000 } from '../migrations/1795340000000-revocation-outbox.js';
import { ResourceServerEntity } from '../resource-server/resource-server.entity.js';
import { roamingClient } from './failover-client.js';
import { UserEntity } from '../user/user.entity.js';
import { WritableServer } from './primary-resolver.js';

export interface DirectoryLimits {
  /** Connections one process opens at most. */
  poolSize: number;
  /** Milliseconds to wait for a connection: a new one or a free one of the pool. */
  connectTimeoutMs: number;
  /** Milliseconds after which PostgreSQL cancels a statement; 0 never. */
  statementTimeoutMs: number;
}

/**
 * A request must fail before its caller gives up, and one process must not starve the others.
 *
 * @param timeoutMs that any dependency has for an answer, in milliseconds: statements may wait for each other's locks
 */
export const requestLimits = (timeoutMs: number): DirectoryLimits => ({
  poolSize: 10,
  connectTimeoutMs: 1.5 * timeoutMs,
  statementTimeoutMs: 2.5 * timeoutMs,
});

export const REQUEST_LIMITS = requestLimits(2_000);

const logger = new Logger('Directory');
const nothing = (): void => undefined;

/** TypeORM writes to stdout, which belongs to logs and to answers; failures reach us as errors anyway. */
const QUIET: TypeOrmLogger = {
  logQuery: nothing,
  logQueryError: nothing,
  logQuerySlow: nothing,
  logSchemaBuild: nothing,
  logMigration: nothing,
  log: (level, message) => (level === 'warn' ? logger.warn(message) : undefined),
};

/**
 * A TypeORM data source of the directory, not yet connected. The schema is changed by migrations only.
 *
 * @param databaseUrl of one server, or of several (`…@a:5432,b:5432/…`), of which the primary is used
 * @param schema of the tables; if empty, the first of the role's `search_path`
 */
export function directoryDataSource(
  databaseUrl: string,
  limits = REQUEST_LIMITS,
  schema: string = '',
): DataSource {
  const servers = eachServer(databaseUrl);
  // Half of the time, so that the other half is left for the connection itself.
  const writable = servers.length > 1 && new WritableServer(servers, limits.connectTimeoutMs / 2);
  const options: DataSourceOptions = {
    type: 'postgres',
    url: servers[0] ?? databaseUrl,
    entities: [
      ClientEntity,
      ClientSecretEntity,
      ClientLogoEntity,
      UserEntity,
      GrantRecordEntity,
      ResourceServerEntity,
    ],
    migrations: [
      CreateDirectory1795219200000,
      RequirePar1795300000000,
      CreateResourceServers1795310000000,
      ClientScopes1795310100000,
      ClientDeletion1795310200000,
      Pages1795320000000,
      GoneUsers1795330000000,
      RevocationOutbox1795340000000,
    ],
    migrationsTransactionMode: 'all',
    synchronize: false,
    installExtensions: false,
    logging: false,
    logger: QUIET,
    applicationName: 'scheduling-oauth',
    poolSize: limits.poolSize,
    connectTimeoutMS: limits.connectTimeoutMs,
    // An idle connection may be cut at any time; the pool opens another one for the next query.
    poolErrorHandler: (error: Error) => logger.warn(`database connection lost: ${error.message}`),
    extra: {
      Client: writable ? roamingClient(writable) : ImpatientClient,
      keepAlive: true,
      statement_timeout: limits.statementTimeoutMs,
      // The server cannot cancel what a dead network hides from it, so the client gives up as well.
      query_timeout: limits.statementTimeoutMs === 0 ? 0 : limits.statementTimeoutMs + 1_000,
      idle_in_transaction_session_timeout: 30_000,
      ...(schema && { options: `-c search_path=${schema}` }),
    },
  };
  return schema ? new SchemaDataSource(options, schema) : new DataSource(options);
}

/** Refuses to run on another schema: a pooler may drop the `search_path` that the connection requests. */
class SchemaDataSource extends DataSource {
  constructor(
    options: DataSourceOptions,
    private readonly schema: string,
  ) {
    super(options);
  }

  override async initialize(): Promise<this> {
    await super.initialize();
    const [{ search_path: path } = { search_path: '' }] =
      await this.query<{ search_path: string }[]>('SHOW search_path');
    if (path === this.schema) return this;
    await this.destroy();
    throw new Error(
      `the search_path is ${path}, not DATABASE_SCHEMA: a connection pooler or the options in the URL override it. ` +
        `ALTER ROLE … SET search_path = ${this.schema} works with every pooler`,
    );
  }
}
