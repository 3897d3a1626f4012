import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The APIs that the tokens of a grant are for (RFC 8707), which are part of the user's decision. */
export class ResourcesOfGrants1795410000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Space-separated and sorted, empty for every API: not null, because rows of decisions are compared.
    await runner.query(`
      ALTER TABLE grants ADD COLUMN resources text NOT NULL DEFAULT '' CHECK (char_length(resources) <= 255)`);
    await runner.query(`
      CREATE INDEX grants_decision_at
        ON grants (user_id, client_id, requested_scope, scope, resources, (revoked_at IS NULL), created_at)`);
    await replaceIndex(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX grants_decision_at
        ON grants (user_id, client_id, requested_scope, scope, (revoked_at IS NULL), created_at)`);
    await replaceIndex(runner);
    await runner.query('ALTER TABLE grants DROP COLUMN resources');
  }
}

/** Gives the new index the name of the old one. */
async function replaceIndex(runner: QueryRunner): Promise<void> {
  await runner.query('DROP INDEX grants_decision');
  await runner.query('ALTER INDEX grants_decision_at RENAME TO grants_decision');
}
