import { NestFactory } from '@nestjs/core';
import { AdministrationModule } from '#administration/administration.module.js';
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

/** Opens the operations of AdministrationModule on private servers. */
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
    CONSOLE_URL: '',
    CONSOLE_GROUPS_CLAIM: '',
    AUDIT_RETENTION_DAYS: 30,
    AUDIT_MAX_MEGABYTES: 64,
    AUDIT_REPLICAS: 1,
    OUTSIDE_FETCH_ALLOW: '127.0.0.1',
  };
  const database = DatabaseModule.forRoot({ databaseUrl });
  const module = AdministrationModule.forRoot({ settings, scopes: () => scopes }, [database]);
  const context = await NestFactory.createApplicationContext(module, { logger: false });
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
