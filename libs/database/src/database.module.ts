import { type DynamicModule, Module, type OnApplicationShutdown, Optional } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Readiness } from '#platform/health/readiness.js';
import { AuthorizationContextStore } from './client/authorization-context.store.js';
import { ClientLogoStore } from './client/client-logo.store.js';
import { ClientRegistrationStore } from './client/client-registration.store.js';
import { ClientSecretStore } from './client/client-secret.store.js';
import { ClientStore } from './client/client.store.js';
import { connect, databaseDataSource, REQUEST_LIMITS, requestLimits } from './connection/data-source.js';
import { ConnectedAppStore } from './grant/connected-app.store.js';
import { DatabaseHealth } from './connection/database-health.js';
import { GrantRecordStore } from './grant/grant-record.store.js';
import { ResourceServerStore } from './resource-server/resource-server.store.js';
import { UserAccountStore } from './user/user-account.store.js';
import { UserStore } from './user/user.store.js';

export interface DatabaseOptions {
  /** PostgreSQL connection URL of a migrated database. */
  databaseUrl: string;
  /** Schema of the tables; if empty, the first of the role's `search_path`. */
  schema?: string;
  /** Connections one process opens at most; 10 when absent. */
  poolSize?: number;
  /** Milliseconds that any dependency has for an answer, of which the limits are made (`requestLimits`); 2000 when absent. */
  timeoutMs?: number;
  /** Milliseconds to keep trying to connect at start; 60 000 when absent, 0 tries once. */
  retryForMs?: number;
}

const STORES = [
  ClientStore,
  ClientRegistrationStore,
  ClientSecretStore,
  ClientLogoStore,
  AuthorizationContextStore,
  ConnectedAppStore,
  UserStore,
  UserAccountStore,
  GrantRecordStore,
  ResourceServerStore,
  DatabaseHealth,
];

/** Offers the stores over one connection pool; the data source itself stays inside. */
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    private readonly dataSource: DataSource,
    health: DatabaseHealth,
    // Absent in tests, which open a database without a process around it.
    @Optional() readiness?: Readiness,
  ) {
    readiness?.register('postgres', () => health.ping());
    readiness?.register('migrations', () => health.migrated());
  }

  /** @throws DependencyUnavailableError at start, when no connection is made in time */
  static forRoot({
    databaseUrl,
    schema,
    poolSize = REQUEST_LIMITS.poolSize,
    timeoutMs = 2_000,
    retryForMs = 60_000,
  }: DatabaseOptions): DynamicModule {
    const limits = { ...requestLimits(timeoutMs), poolSize };
    const useFactory = () =>
      connect(databaseDataSource(databaseUrl, limits, schema), databaseUrl, retryForMs);
    return {
      module: DatabaseModule,
      providers: [{ provide: DataSource, useFactory }, ...STORES],
      exports: STORES,
    };
  }

  /** Last of all shutdown steps: requests in flight may still need the stores. */
  async onApplicationShutdown(): Promise<void> {
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
