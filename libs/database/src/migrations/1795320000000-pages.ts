import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the pages show and remember: kinds of clients, logos, languages, log-outs, and what a user declined. */
export class Pages1795320000000 implements MigrationInterface {
  // Constant defaults: no rewrite of a table, and processes of the version before go on inserting.
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE clients
        ADD COLUMN first_party     boolean NOT NULL DEFAULT false,
        ADD COLUMN optional_scopes text[] NOT NULL DEFAULT '{}',
        ADD CONSTRAINT clients_optional_scopes_check CHECK (optional_scopes <@ scopes)`);
    // No unique digest: two clients of one vendor may have the same image.
    await runner.query(`
      CREATE TABLE client_logos (
        client_id  text PRIMARY KEY REFERENCES clients ON DELETE CASCADE,
        digest     text NOT NULL,
        media_type text NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg', 'image/webp')),
        image      bytea NOT NULL CHECK (octet_length(image) BETWEEN 1 AND 12288),
        CONSTRAINT client_logos_digest_check CHECK (digest = encode(sha256(image), 'hex'))
      )`);
    await runner.query('CREATE INDEX client_logos_digest ON client_logos (digest)');
    await runner.query(`
      ALTER TABLE users
        ADD COLUMN locale             text CHECK (locale IN ('en', 'de', 'fr', 'es', 'pt', 'ja', 'ar')),
        ADD COLUMN session_generation integer NOT NULL DEFAULT 0`);
    await runner.query(
      'ALTER TABLE grants ADD COLUMN asked_scope text CHECK (char_length(asked_scope) <= 1000)',
    );
    await runner.query('UPDATE grants SET asked_scope = scope');
    await runner.query('ALTER TABLE grants ALTER COLUMN asked_scope SET NOT NULL');
    // Processes of the version before do not name the column, and know no user who declines a part.
    await runner.query(`
      CREATE FUNCTION grants_asked_scope() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.asked_scope := NEW.scope;
          RETURN NEW;
        END $$`);
    await runner.query(`
      CREATE TRIGGER grants_asked_scope BEFORE INSERT ON grants
        FOR EACH ROW WHEN (NEW.asked_scope IS NULL) EXECUTE FUNCTION grants_asked_scope()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TRIGGER grants_asked_scope ON grants');
    await runner.query('DROP FUNCTION grants_asked_scope()');
    await runner.query('ALTER TABLE grants DROP COLUMN asked_scope');
    await runner.query('ALTER TABLE users DROP COLUMN session_generation, DROP COLUMN locale');
    await runner.query('DROP TABLE client_logos');
    await runner.query('ALTER TABLE clients DROP COLUMN optional_scopes, DROP COLUMN first_party');
  }
}
