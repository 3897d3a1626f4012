import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a client may ask users for (RFC 6749 3.3). */
export class ClientScopes1795310100000 implements MigrationInterface {
  // A constant default: no rewrite of the table, and clients of the version before keep what they could ask for.
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE clients ADD COLUMN scopes text[] NOT NULL DEFAULT '{profile:read}'
        CHECK (cardinality(scopes) BETWEEN 1 AND 100)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE clients DROP COLUMN scopes');
  }
}
