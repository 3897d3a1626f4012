import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Clients that the operator has disabled (docs/adr/0019): their grants stay, and are of no use until the client is enabled. */
export class DisabledClients1795420000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE clients ADD COLUMN disabled_at timestamptz');
    // Every token app reads all of them every few seconds.
    await runner.query(`
      CREATE INDEX clients_disabled ON clients (client_id) WHERE disabled_at IS NOT NULL`);
  }

  /** Enables every client. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE clients DROP COLUMN disabled_at');
  }
}
