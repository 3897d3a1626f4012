import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A deleted client keeps its row: its identifier is never given out again, and its grants stay to say that they are
 * revoked, which a Redis that fails over has to be told.
 */
export class ClientDeletion1795310200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE clients ADD COLUMN deleted_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE clients DROP COLUMN deleted_at');
  }
}
