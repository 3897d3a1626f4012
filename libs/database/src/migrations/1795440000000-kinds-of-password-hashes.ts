import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Finds one hash of each kind by a few index lookups: a login verifies the password against all of them, so that its work does not
 * depend on the user. The expression is `PASSWORD_KIND` of user.store.ts.
 */
export class KindsOfPasswordHashes1795440000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX users_password_kind ON users ((
        substring(password_hash from '^[$](?:2.[$])?((?:argon2[^$]+[$](?:v=[^$]+[$])?)?[^$]+)') COLLATE "C"
      )) WHERE password_hash IS NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX users_password_kind');
  }
}
