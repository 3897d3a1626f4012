import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DatabaseModule } from '#database/database.module.js';
import type { DatabaseProcess } from '#database/roles.js';
import { ScopeCatalogue } from '#oauth/scope.js';
import type { AdministrationSettings } from '#operations/administration.options.js';
import { OperationsModule } from '#operations/operations.module.js';
import type { Isolated } from '#test/support/isolate.js';
import { withCredentials } from '#test/support/process-credentials.js';

const ORIGIN = 'https://oauth.example.com';
const SCOPES = ['profile:read', 'bookings:read', 'bookings:write'].map((name) => ({
  name,
  resource: '',
  description: name,
  texts: { en: name },
  isDefault: name === 'profile:read',
  access: 'read' as const,
}));

/**
 * Opens the operations of a module.
 * @param process process whose role in PostgreSQL they have; by default the administrator of the test servers
 */
export async function openOperations(
  module: Type,
  { databaseUrl, natsUrl }: Isolated,
  { process, ...more }: { process?: DatabaseProcess } & Partial<AdministrationSettings> = {},
) {
  const given = { DATABASE_URL: databaseUrl };
  const { DATABASE_URL } = process === undefined ? given : withCredentials(process, given);
  const settings = {
    DATABASE_URL,
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
    OUTSIDE_FETCH_ALLOW: '',
    ...more,
  };
  const scopes = { variable: '', path: '', digest: '', value: new ScopeCatalogue(SCOPES) };
  const database = DatabaseModule.forRoot({ databaseUrl: DATABASE_URL, ...(process && { process }) });
  const operations = OperationsModule.forRoot({ settings, scopes: () => scopes }, [database]);
  const context = await NestFactory.createApplicationContext(
    { module, imports: [operations] },
    { logger: false },
  );
  return { settings, context };
}
