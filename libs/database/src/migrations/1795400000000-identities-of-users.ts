import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Users whom the product brings: known by an identity instead of a password, or with a password hash of the product's own. A user
 * without a password cannot log in here by e-mail or username, so that the product may give these to several users.
 */
export class IdentitiesOfUsers1795400000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // external_updated_at: when the product made the newest change that was applied, so that an older one is recognized.
    // The username of a user with a password must not look like another user's e-mail address.
    await runner.query(`
      ALTER TABLE users
        ADD COLUMN issuer text CHECK (char_length(issuer) BETWEEN 1 AND 255),
        ADD COLUMN external_id text CHECK (char_length(external_id) BETWEEN 1 AND 255),
        ADD COLUMN external_updated_at timestamptz,
        ADD CONSTRAINT users_identity_check CHECK ((issuer IS NULL) = (external_id IS NULL)),
        ALTER COLUMN password_hash DROP NOT NULL,
        DROP CONSTRAINT users_password_hash_check,
        ADD CONSTRAINT users_password_hash_check
          CHECK (password_hash ~ '^[$](argon2(id|i|d)|2[aby])[$]' AND char_length(password_hash) <= 255),
        DROP CONSTRAINT users_username_check,
        ADD CONSTRAINT users_username_check CHECK (
          username ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' OR username = email OR (
            password_hash IS NULL AND issuer IS NOT NULL
              AND char_length(username) BETWEEN 1 AND 254 AND username !~ '[[:cntrl:]]'
          )
        )`);
    await runner.query(
      'CREATE UNIQUE INDEX users_identity_unique ON users (issuer, external_id) WHERE issuer IS NOT NULL',
    );
    // Users without an identity are known by e-mail and username, also while they have no password.
    for (const login of ['email', 'username']) {
      await runner.query(`DROP INDEX users_${login}_unique`);
      await runner.query(`
        CREATE UNIQUE INDEX users_${login}_unique ON users (lower(${login}))
          WHERE password_hash IS NOT NULL OR issuer IS NULL`);
    }
  }

  /** Fails if there are users without a password, or with a hash or username that was not allowed before. */
  async down(runner: QueryRunner): Promise<void> {
    for (const login of ['email', 'username']) {
      await runner.query(`DROP INDEX users_${login}_unique`);
      await runner.query(`CREATE UNIQUE INDEX users_${login}_unique ON users (lower(${login}))`);
    }
    await runner.query(`
      ALTER TABLE users
        DROP CONSTRAINT users_username_check,
        ADD CONSTRAINT users_username_check CHECK (username ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
        DROP CONSTRAINT users_password_hash_check,
        ADD CONSTRAINT users_password_hash_check
          CHECK (password_hash LIKE '$argon2id$%' AND char_length(password_hash) <= 255),
        ALTER COLUMN password_hash SET NOT NULL,
        DROP COLUMN issuer, DROP COLUMN external_id, DROP COLUMN external_updated_at`);
  }
}
