import { Module } from '@nestjs/common';
import { ClientOperationsModule } from '#clients/operations/client-operations.module.js';
import { UserOperationsModule } from '#users/operations/user-operations.module.js';
import { GrantOperationsModule } from '#grants/operations/grant.service.js';
import { KeyOperationsModule } from '#keys/operations/key.service.js';
import { AuditOperationsModule } from '#audit/operations/audit-operations.module.js';
import { DatabaseOperationsModule } from '#database/operations/migration.service.js';
import { DiagnosisModule } from '#diagnosis/doctor.service.js';
import { isolate } from '#test/support/isolate.js';
import { openOperations } from './open-operations.js';

@Module({
  imports: [
    ClientOperationsModule,
    UserOperationsModule,
    GrantOperationsModule,
    KeyOperationsModule,
    AuditOperationsModule,
    DatabaseOperationsModule,
    DiagnosisModule,
  ],
})
class AdministrationModule {}

/** Opens the operations of all rooms on private servers. */
export async function openAdministration() {
  const services = await isolate();
  const { settings, context } = await openOperations(AdministrationModule, services, {
    outsideFetchAllow: '127.0.0.1',
  });
  return {
    services,
    settings,
    context,
    async close(): Promise<void> {
      await context.close();
      await services.close();
    },
  };
}

export type Administration = Awaited<ReturnType<typeof openAdministration>>;
