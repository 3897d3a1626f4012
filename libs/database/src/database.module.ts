import {
  type DynamicModule,
  Inject,
  Injectable,
  Logger,
  Module,
  type OnApplicationShutdown,
  Optional,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ServiceDataSource } from '#platform/postgres/service-data-source.js';
import { Readiness } from '#platform/health/readiness.js';
import { StatusReport } from '#platform/status/status-report.js';
import { AuditIndexStore } from '#audit/index/audit-index.store.js';
import { RefusedRequestStore } from '#audit/index/refused-request.store.js';
import { AuthorizationContextStore } from '#clients/authorization-context.store.js';
import { ClientDocumentStore } from '#clients/client-document.store.js';
import { ClientLogoStore } from '#clients/client-logo.store.js';
import { ClientRegistrationStore } from '#clients/client-registration.store.js';
import { ClientSecretStore } from '#clients/client-secret.store.js';
import { ClientTransferStore } from '#clients/client-transfer.store.js';
import { ClientStore } from '#clients/client.store.js';
import { ClientMemberStore } from '#clients/owners/client-member.store.js';
import { OwnedClientStore } from '#clients/owners/owned-client.store.js';
import { ClientRequestStore } from '#clients/requests/client-request.store.js';
import { ConsoleInvitationStore } from '#users/operators/console-invitation.store.js';
import { ConsoleOperatorStore } from '#users/operators/console-operator.store.js';
import { ConnectedAppStore } from '#grants/records/connected-app.store.js';
import { rightsDifference } from './rights-inspection.js';
import type { DatabaseProcess } from './roles.js';
import { GrantAdministrationStore } from '#grants/records/grant-administration.store.js';
import { GrantRecordStore } from '#grants/records/grant-record.store.js';
import { UnredeemedGrantStore } from '#grants/records/unredeemed-grant.store.js';
import { ResourceServerStore } from '#clients/resource-server/resource-server.store.js';
import { EventStore } from '#events/event.store.js';
import { EventStreamStore } from '#events/event-stream.store.js';
import { LogoutStore } from '#events/logout.store.js';
import { MailStore } from '#mail/mail.store.js';
import { TokenKeyStore } from '#keys/token-key.store.js';
import { UsageStore } from '#grants/usage/usage.store.js';
import { ExternalUserStore } from '#users/external-user.store.js';
import { UserAccountStore } from '#users/user-account.store.js';
import { UserStore } from '#users/user.store.js';
import { pendingMigrationsOf } from './migrate.js';
import { connect, databaseDataSource, REQUEST_LIMITS, requestLimits } from './data-source.js';
import { DatabaseInspection } from './database-inspection.js';

@Injectable()
export class DatabaseHealth {
  private readonly logger = new Logger('Database');
  private isMigrated = false;
  private reported = '';

  constructor(private readonly dataSource: DataSource) {}

  async ping(): Promise<void> {
    await this.dataSource.query('SELECT 1');
  }

  /**
   * Rejects while migrations are pending, and caches success. Accepts newer migrations, so that the previous version of
   * the service works during a rollout or after a rollback.
   */
  async migrated(): Promise<void> {
    if (this.isMigrated) return;
    const pending = (await pendingMigrationsOf(this.dataSource)).join(', ');
    this.isMigrated = pending === '';
    if (this.isMigrated) return;
    const problem = `the database is not at this version, run "migrate": it lacks ${pending}`;
    if (pending !== this.reported) this.logger.warn(problem);
    this.reported = pending;
    throw new Error(problem);
  }
}

export interface DatabaseOptions {
  /** Process whose rights the status reports. Absent in tests that use this module without an application. */
  process?: DatabaseProcess;
  databaseUrl: string;
  schema?: string;
  poolSize?: number;
  /** Response time limit of a dependency (see `requestLimits`); 2000 ms by default. */
  timeoutMs?: number;
  /** Time limit for retrying the first connection; 60,000 ms by default. 0 means a single attempt. */
  retryForMs?: number;
  /** True to connect when a store first needs it, in a process that may not need the database. */
  connectsOnUse?: boolean;
}

const STORES = [
  ClientStore,
  ClientRegistrationStore,
  ClientSecretStore,
  ClientTransferStore,
  ClientLogoStore,
  ClientMemberStore,
  ClientRequestStore,
  OwnedClientStore,
  ClientDocumentStore,
  AuthorizationContextStore,
  EventStore,
  EventStreamStore,
  LogoutStore,
  MailStore,
  ConnectedAppStore,
  UserStore,
  UserAccountStore,
  ExternalUserStore,
  GrantRecordStore,
  GrantAdministrationStore,
  UnredeemedGrantStore,
  ResourceServerStore,
  TokenKeyStore,
  ConsoleInvitationStore,
  ConsoleOperatorStore,
  AuditIndexStore,
  RefusedRequestStore,
  UsageStore,
  DatabaseHealth,
];

const REPORTED_PROCESS = Symbol('process');

/** Provides the stores, which share a connection pool. The data source is not exported. */
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(
    @Inject(DataSource) private readonly dataSource: ServiceDataSource,
    health: DatabaseHealth,
    // Absent in the operator app, and in tests that use this module without an application.
    @Optional() readiness?: Readiness,
    @Optional() status?: StatusReport,
    @Optional() @Inject(REPORTED_PROCESS) process?: DatabaseProcess,
  ) {
    readiness?.register('postgres', () => health.ping());
    readiness?.register('migrations', () => health.migrated());
    if (process !== undefined)
      status?.register('database_rights', () => rightsDifference(this.dataSource, process));
  }

  /** @throws DependencyUnavailableError if no connection succeeds in time, on use if `connectsOnUse` */
  static forRoot({
    process,
    databaseUrl,
    schema,
    poolSize = REQUEST_LIMITS.poolSize,
    timeoutMs = 2_000,
    retryForMs = 60_000,
    connectsOnUse = false,
  }: DatabaseOptions): DynamicModule {
    const limits = { ...requestLimits(timeoutMs), poolSize };
    const useFactory = () => {
      const source = databaseDataSource(databaseUrl, limits, schema, process);
      const open = () => connect(source, databaseUrl, retryForMs);
      return connectsOnUse ? source.connectOnUse(open) : open();
    };
    return {
      module: DatabaseModule,
      providers: [
        { provide: DataSource, useFactory },
        { provide: REPORTED_PROCESS, useValue: process },
        ...STORES,
        {
          provide: DatabaseInspection,
          inject: [DataSource],
          useFactory: (dataSource: DataSource) => new DatabaseInspection(dataSource, databaseUrl, process),
        },
      ],
      exports: [...STORES, DatabaseInspection],
    };
  }

  /** Disconnects last in a shutdown, because requests in flight may still need the stores. */
  onApplicationShutdown(): Promise<void> {
    return this.dataSource.close();
  }
}
