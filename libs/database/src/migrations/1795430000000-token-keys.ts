import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which token keys have signed, and until when live tokens may need them. Never the keys themselves. */
export class TokenKeys1795430000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE token_keys (
        id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{8}$'),
        first_seen_at timestamptz NOT NULL DEFAULT now(),
        last_signed_at timestamptz,
        needed_until timestamptz
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE token_keys');
  }
}
