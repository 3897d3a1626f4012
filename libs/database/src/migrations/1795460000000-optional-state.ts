import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Clients that may leave out `state`, and must use PKCE instead (RFC 9700 2.1). */
export class OptionalState1795460000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE clients ADD COLUMN require_state boolean NOT NULL DEFAULT true');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE clients DROP COLUMN require_state');
  }
}
