import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { AdministrationOptions } from './administration.options.js';
import { Announcer } from './announcer.js';
import { AuditIndex } from './audit-index/audit-index.js';
import { AuditIndexer } from './audit-index/audit-indexer.js';
import { AuditTrail } from './audit/audit-trail.js';
import { ClientExportService } from './client-file/client-export.service.js';
import { ClientImportService } from './client-file/client-import.service.js';
import { ClientSecretService } from './client/client-secret.service.js';
import { ClientService } from './client/client.service.js';
import { AuditService } from './audit/audit.service.js';
import { DoctorService } from './doctor/doctor.service.js';
import { ClientHistoryService } from './explain/client-history.service.js';
import { ExplainService } from './explain/explain.service.js';
import { KeyService } from './key/key.service.js';
import { MigrationService } from './migration/migration.service.js';
import { GrantService } from './grant/grant.service.js';
import { ConsoleOperatorService } from './console/console-operator.service.js';
import { ResourceServerService } from './resource-server/resource-server.service.js';
import { OverviewService } from './overview/overview.service.js';
import { RunningServices } from './running-services/running-services.js';
import { UserService } from './user/user.service.js';

const SERVICES = [
  ClientService,
  ClientSecretService,
  ClientImportService,
  ClientExportService,
  ResourceServerService,
  UserService,
  GrantService,
  ConsoleOperatorService,
  AuditService,
  AuditIndexer,
  ClientHistoryService,
  OverviewService,
  DoctorService,
  ExplainService,
  KeyService,
  MigrationService,
];

/** Provides the operations, which check their input and record every change in the audit trail. */
@Module({})
export class AdministrationModule {
  static forRoot(
    options: AdministrationOptions,
    imports: NonNullable<ModuleMetadata['imports']>,
  ): DynamicModule {
    return {
      module: AdministrationModule,
      imports,
      providers: [
        { provide: AdministrationOptions, useValue: options },
        AuditTrail,
        AuditIndex,
        RunningServices,
        Announcer,
        ...SERVICES,
      ],
      exports: SERVICES,
    };
  }
}
