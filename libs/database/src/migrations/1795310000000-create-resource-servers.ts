import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Accounts of the APIs that may introspect tokens over HTTP (RFC 7662 2.1). */
export class CreateResourceServers1795310000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE resource_servers (
        id          text PRIMARY KEY CHECK (id ~ '^rs_[a-z2-7]{24}$'),
        name        text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
        secret_hash bytea NOT NULL CHECK (octet_length(secret_hash) = 32),
        created_at  timestamptz NOT NULL DEFAULT now(),
        revoked_at  timestamptz
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE resource_servers');
  }
}
