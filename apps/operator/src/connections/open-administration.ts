import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientOperationsModule } from '#clients/operations/client-operations.module.js';
import { UserOperationsModule } from '#users/operations/user-operations.module.js';
import { EventOperationsModule } from '#events/operations/event-operations.module.js';
import { EventService } from '#events/operations/event.service.js';
import { EventStreamService } from '#events/operations/event-stream.service.js';
import { AuditOperationsModule } from '#audit/operations/audit-operations.module.js';
import { DatabaseModule } from '#database/database.module.js';
import { DatabaseOperationsModule, MigrationService } from '#database/operations/migration.service.js';
import { OperationsModule } from '#operations/operations.module.js';
import type { AdministrationSettings } from '#operations/administration.options.js';
import { ClientExportService } from '#clients/operations/file/client-export.service.js';
import { ClientImportService } from '#clients/operations/file/client-import.service.js';
import { ClientSecretService } from '#clients/operations/client-secret.service.js';
import { ClientService } from '#clients/operations/client.service.js';
import { AuditService } from '#audit/operations/audit.service.js';
import { DiagnosisModule, DoctorService } from '#diagnosis/doctor.service.js';
import { ClientHistoryService } from '#audit/operations/explain/client-history.service.js';
import { ExplainService } from '#audit/operations/explain/explain.service.js';
import { KeyOperationsModule, KeyService } from '#keys/operations/key.service.js';
import { GrantOperationsModule, GrantService } from '#grants/operations/grant.service.js';
import { ConsoleOperatorService } from '#users/operations/operators/console-operator.service.js';
import { ClientMemberService } from '#clients/operations/owners/client-member.service.js';
import { ReviewService } from '#clients/operations/requests/review.service.js';
import { ResourceServerService } from '#clients/operations/resource-server.service.js';
import { UserService } from '#users/operations/user.service.js';
import { readScopes } from '../settings/settings.js';

@Module({
  imports: [
    ClientOperationsModule,
    UserOperationsModule,
    GrantOperationsModule,
    EventOperationsModule,
    KeyOperationsModule,
    AuditOperationsModule,
    DatabaseOperationsModule,
    DiagnosisModule,
  ],
})
class AdministrationModule {}

export type Administration = Awaited<ReturnType<typeof openAdministration>>;

/** Nothing retries a failed command, so it waits for a failover, but only as long as an operator would wait. */
const LIMITS = { timeoutMs: 5_000, poolSize: 2, retryForMs: 2_000 };

export async function openAdministration(settings: AdministrationSettings) {
  const { databaseUrl, databaseSchema: schema } = settings;
  const database = DatabaseModule.forRoot({
    ...LIMITS,
    process: 'operator',
    databaseUrl,
    schema,
    connectsOnUse: true,
  });
  const options = { settings, scopes: readScopes, version: process.env.SERVICE_VERSION };
  const context = await NestFactory.createApplicationContext(
    {
      module: AdministrationModule,
      imports: [OperationsModule.forRoot(options, [database])],
    },
    { logger: false, abortOnError: false },
  );
  return {
    clients: context.get(ClientService),
    secrets: context.get(ClientSecretService),
    members: context.get(ClientMemberService),
    reviews: context.get(ReviewService),
    clientImport: context.get(ClientImportService),
    clientExport: context.get(ClientExportService),
    resourceServers: context.get(ResourceServerService),
    users: context.get(UserService),
    grants: context.get(GrantService),
    events: context.get(EventService),
    streams: context.get(EventStreamService),
    consoleOperators: context.get(ConsoleOperatorService),
    audit: context.get(AuditService),
    doctor: context.get(DoctorService),
    explain: context.get(ExplainService),
    histories: context.get(ClientHistoryService),
    keys: context.get(KeyService),
    migrations: context.get(MigrationService),
    close: () => context.close(),
  };
}
