import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Clients that must push their authorization requests (RFC 9126 6). */
export class RequirePar1795300000000 implements MigrationInterface {
  // A constant default costs no rewrite of the table, and processes of the version before go on inserting.
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE clients ADD COLUMN require_par boolean NOT NULL DEFAULT false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE clients DROP COLUMN require_par');
  }
}
