import { NestFactory } from '@nestjs/core';
import { AdministrationModule } from '#administration/administration.module.js';
import type { AdministrationSettings } from '#administration/administration.options.js';
import { ClientExportService } from '#administration/client-file/client-export.service.js';
import { ClientImportService } from '#administration/client-file/client-import.service.js';
import { ClientSecretService } from '#administration/client/client-secret.service.js';
import { ClientService } from '#administration/client/client.service.js';
import { AuditService } from '#administration/audit/audit.service.js';
import { DoctorService } from '#administration/doctor/doctor.service.js';
import { ClientHistoryService } from '#administration/explain/client-history.service.js';
import { ExplainService } from '#administration/explain/explain.service.js';
import { KeyService } from '#administration/key/key.service.js';
import { MigrationService } from '#administration/migration/migration.service.js';
import { GrantService } from '#administration/grant/grant.service.js';
import { ConsoleOperatorService } from '#administration/console/console-operator.service.js';
import { ResourceServerService } from '#administration/resource-server/resource-server.service.js';
import { UserService } from '#administration/user/user.service.js';
import { readScopes } from '../settings/read-settings.js';
import { OnDemandDatabaseModule } from './on-demand-database.module.js';

export type Administration = Awaited<ReturnType<typeof openAdministration>>;

export async function openAdministration(settings: () => AdministrationSettings) {
  const options = {
    get settings() {
      return settings();
    },
    scopes: readScopes,
    version: process.env.SERVICE_VERSION,
  };
  const context = await NestFactory.createApplicationContext(
    AdministrationModule.forRoot(options, [OnDemandDatabaseModule.forRoot(settings)]),
    { logger: false, abortOnError: false },
  );
  return {
    clients: context.get(ClientService),
    secrets: context.get(ClientSecretService),
    clientImport: context.get(ClientImportService),
    clientExport: context.get(ClientExportService),
    resourceServers: context.get(ResourceServerService),
    users: context.get(UserService),
    grants: context.get(GrantService),
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
