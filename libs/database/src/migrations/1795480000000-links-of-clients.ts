import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Home page, privacy policy and contacts of an application (RFC 7591 2), which users see. */
export class LinksOfClients1795480000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE clients
        ADD COLUMN client_uri text,
        ADD COLUMN policy_uri text,
        ADD COLUMN contacts text[] NOT NULL DEFAULT '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE clients DROP COLUMN client_uri, DROP COLUMN policy_uri, DROP COLUMN contacts',
    );
  }
}
