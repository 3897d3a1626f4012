import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Facts about a user that one message must not mix up: who disabled them, whether their email is verified, and that they were
 * deleted (docs/adr/0010, docs/adr/0013).
 */
export class FactsAboutUsers1795450000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await disabledBy(runner);
    await verifiedEmails(runner);
    await deletedIdentities(runner);
  }

  /** Users disabled by the product alone stay disabled. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION identity_was_deleted, deleted_identity');
    await runner.query('DROP TABLE deleted_identities');
    await runner.query('DROP INDEX users_username');
    await runner.query('DROP TRIGGER users_end_grants_first ON users');
    await runner.query('ALTER TABLE users DROP COLUMN email_verified, DROP COLUMN disabled_at');
    await runner.query(
      'UPDATE users SET operator_disabled_at = LEAST(operator_disabled_at, product_disabled_at)',
    );
    await runner.query('ALTER TABLE users DROP COLUMN product_disabled_at');
    await runner.query('ALTER TABLE users RENAME COLUMN operator_disabled_at TO disabled_at');
    await endGrantsFirst(runner, 'disabled_at');
  }
}

/** `disabled_at` follows from both, so that nothing that reads it can forget one of them. */
async function disabledBy(runner: QueryRunner): Promise<void> {
  await runner.query('DROP TRIGGER users_end_grants_first ON users');
  await runner.query('ALTER TABLE users RENAME COLUMN disabled_at TO operator_disabled_at');
  await runner.query('ALTER TABLE users ADD COLUMN product_disabled_at timestamptz');
  await runner.query(`
    ALTER TABLE users ADD COLUMN disabled_at timestamptz
      GENERATED ALWAYS AS (LEAST(operator_disabled_at, product_disabled_at)) STORED`);
  await endGrantsFirst(runner, 'operator_disabled_at, product_disabled_at');
}

async function endGrantsFirst(runner: QueryRunner, columns: string): Promise<void> {
  await runner.query(`
    CREATE TRIGGER users_end_grants_first AFTER DELETE OR UPDATE OF id, ${columns} ON users
      FOR EACH ROW EXECUTE FUNCTION users_end_grants_first()`);
}

/** The operator has vouched for the emails of users without an identity. The index finds other users of the same name. */
async function verifiedEmails(runner: QueryRunner): Promise<void> {
  await runner.query('ALTER TABLE users ADD COLUMN email_verified boolean NOT NULL DEFAULT false');
  await runner.query('UPDATE users SET email_verified = true WHERE issuer IS NULL');
  await runner.query('CREATE INDEX users_username ON users (lower(username))');
}

/** Hashes of the identities of deleted users, so that a change from before the deletion does not create the user again. */
async function deletedIdentities(runner: QueryRunner): Promise<void> {
  await runner.query(`
    CREATE TABLE deleted_identities (
      identity   bytea PRIMARY KEY CHECK (octet_length(identity) = 32),
      deleted_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL DEFAULT now() + interval '90 days'
    )`);
  await runner.query('CREATE INDEX deleted_identities_expiry ON deleted_identities (expires_at)');
  const [{ schema } = { schema: 'public' }] = (await runner.query(
    'SELECT quote_ident(current_schema()) AS schema',
  )) as { schema: string }[];
  await runner.query(`
    CREATE FUNCTION deleted_identity(issuer text, external_id text) RETURNS bytea
      LANGUAGE sql STABLE STRICT
      AS $$ SELECT sha256(convert_to(issuer || E'\\n' || external_id, 'UTF8')) $$`);
  // VOLATILE: its query sees what was committed while the function waited for the lock, which a deletion holds until it ends.
  await runner.query(`
    CREATE FUNCTION identity_was_deleted(issuer text, external_id text, since timestamptz) RETURNS boolean
      LANGUAGE plpgsql VOLATILE STRICT SET search_path = ${schema}, pg_temp
      AS $$ BEGIN
        PERFORM pg_advisory_xact_lock_shared(hashtextextended(issuer || E'\\n' || external_id, 0));
        RETURN EXISTS (
          SELECT FROM deleted_identities d WHERE d.identity = deleted_identity(issuer, external_id) AND d.deleted_at >= since
        );
      END $$`);
}
