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
  isolated: Isolated,
  { process, ...more }: { process?: DatabaseProcess } & Partial<AdministrationSettings> = {},
) {
  const given = { DATABASE_URL: isolated.databaseUrl };
  const { DATABASE_URL: databaseUrl } = process === undefined ? given : withCredentials(process, given);
  const settings = {
    databaseUrl,
    databaseSchema: 'oauth',
    natsUrl: isolated.natsUrl,
    auditNatsUrl: '',
    authUrl: ORIGIN,
    baseUrl: ORIGIN,
    apiUrl: ORIGIN,
    productName: 'Scheduling',
    consoleUrl: '',
    consoleGroupsClaim: '',
    outsideFetchAllow: '',
    auditRetention: { days: 30, megabytes: 64, replicas: 1 },
    ...more,
  };
  const scopes = { variable: '', path: '', digest: '', value: new ScopeCatalogue(SCOPES) };
  const database = DatabaseModule.forRoot({ databaseUrl, ...(process && { process }) });
  const operations = OperationsModule.forRoot({ settings, scopes: () => scopes }, [database]);
  const context = await NestFactory.createApplicationContext(
    { module, imports: [operations] },
    { logger: false },
  );
  return { settings, context };
}
