import { createHash, randomBytes } from 'node:crypto';
import { Module, type Type } from '@nestjs/common';
import { Client } from 'pg';
import { ClientOperationsModule } from '#clients/operations/client-operations.module.js';
import { asDeveloper } from '#database/developer-data-source.js';
import type { Actor, OwnerActor } from '#operations/audit-trail.js';
import { openFixture } from '#test/support/fixture.js';
import { isolate } from '#test/support/isolate.js';
import { openOperations } from '../../../operations/test/support/open-operations.js';

const URLS = {
  consoleUrl: 'https://console.example.com',
  developersUrl: 'https://developers.example.com',
} as const;

export const GRACE: Actor = { name: 'grace@console', channel: 'page', role: 'support' };

export interface Developer {
  readonly actor: OwnerActor;
  /** Runs work of the portal for this user. */
  as<Result>(work: () => Result): Result;
}

@Module({ imports: [ClientOperationsModule] })
class Operations {}

/** Opens the operations of the portal and of the console, each with the role of its process in PostgreSQL. */
export async function openPortal() {
  const services = await isolate();
  const [{ context: portal }, { context: console }] = await Promise.all([
    openOperations(Operations, services, { process: 'developers', ...URLS }),
    openOperations(Operations, services, { process: 'console', ...URLS }),
  ]);
  const fixture = await openFixture(services, 'A'.repeat(43));
  const sql = new Client({ connectionString: services.databaseUrl, options: '-c search_path=oauth' });
  await sql.connect();
  await sql.query(
    `INSERT INTO clients (client_id, name, type, redirect_uris, developer_portal)
     VALUES ('sc_portal', 'Developers', 'confidential', '{https://developers.example.com/login/callback}', true)`,
  );
  return {
    services,
    portal: <T>(type: Type<T>): T => portal.get(type),
    console: <T>(type: Type<T>): T => console.get(type),
    sql: async (text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> =>
      (await sql.query<Record<string, unknown>>(text, values)).rows,
    /** Creates a user with a grant to the portal. */
    async developer(name: string): Promise<Developer> {
      const userId = await fixture.user(name);
      const handle = randomBytes(16);
      await sql.query(
        `INSERT INTO grants (id, user_id, client_id, scope, requested_scope, expires_at, lifetime)
         VALUES ($1, $2, 'sc_portal', 'openid', 'openid', now() + interval '1 day', '1 day')`,
        [createHash('sha256').update(handle).digest('base64url'), userId],
      );
      return {
        actor: { name, channel: 'portal', role: null, userId },
        as: (work) => asDeveloper(handle, work),
      };
    },
    async close(): Promise<void> {
      await Promise.all([portal.close(), console.close(), fixture.close(), sql.end()]);
      await services.close();
    },
  };
}

export type Portal = Awaited<ReturnType<typeof openPortal>>;
