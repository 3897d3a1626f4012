import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientOperationsModule } from '#clients/operations/client-operations.module.js';
import { UserOperationsModule } from '#users/operations/user-operations.module.js';
import { GrantOperationsModule } from '#grants/operations/grant.service.js';
import { KeyOperationsModule } from '#keys/operations/key.service.js';
import { AuditOperationsModule } from '#audit/operations/audit-operations.module.js';
import { DatabaseOperationsModule } from '#database/operations/migration.service.js';
import { DiagnosisModule } from '#diagnosis/doctor.service.js';
import { OperationsModule } from '#operations/operations.module.js';
import { DatabaseModule } from '#database/database.module.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import { isolate } from '#test/support/isolate.js';

const ORIGIN = 'https://oauth.example.com';
const SCOPE = {
  name: 'profile:read',
  resource: '',
  description: 'Profile',
  texts: { en: 'Profile' },
  isDefault: true,
  access: 'read' as const,
};

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
  const { databaseUrl, natsUrl } = services;
  const scopes = { variable: '', path: '', digest: '', value: new ScopeCatalogue([SCOPE]) };
  const settings = {
    DATABASE_URL: databaseUrl,
    DATABASE_SCHEMA: 'oauth',
    NATS_URL: natsUrl,
    AUDIT_NATS_URL: '',
    AUTH_URL: ORIGIN,
    BASE_URL: ORIGIN,
    API_URL: ORIGIN,
    PRODUCT_NAME: 'Scheduling',
    CONSOLE_URL: '',
    CONSOLE_GROUPS_CLAIM: '',
    AUDIT_RETENTION_DAYS: 30,
    AUDIT_MAX_MEGABYTES: 64,
    AUDIT_REPLICAS: 1,
    OUTSIDE_FETCH_ALLOW: '127.0.0.1',
  };
  const database = DatabaseModule.forRoot({ databaseUrl });
  const operations = OperationsModule.forRoot({ settings, scopes: () => scopes }, [database]);
  const context = await NestFactory.createApplicationContext(
    { module: AdministrationModule, imports: [operations] },
    { logger: false },
  );
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
