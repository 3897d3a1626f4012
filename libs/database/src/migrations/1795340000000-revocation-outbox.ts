import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the outbox of revocations (docs/adr/0011): `revocation_applied_at` is null until Redis and every cache have the
 * revocation. The previous version leaves it null, and the reconcilers of this version apply what it revokes.
 */
export class RevocationOutbox1795340000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE grants
        ADD COLUMN revocation_applied_at timestamptz,
        ADD CONSTRAINT grants_applied_after_revoked CHECK (revocation_applied_at IS NULL OR revoked_at IS NOT NULL)`);
    // The previous version applied revocations of up to a day ago again.
    await runner.query(`
      UPDATE grants SET revocation_applied_at = revoked_at WHERE revoked_at < now() - interval '1 day'`);
    await runner.query('DROP INDEX grants_revoked');
    await runner.query(`
      CREATE INDEX grants_revocation_outstanding ON grants (revoked_at, id)
        WHERE revoked_at IS NOT NULL AND revocation_applied_at IS NULL`);
    await runner.query(`
      CREATE INDEX grants_revocation_applied ON grants (revocation_applied_at, id)
        WHERE revocation_applied_at IS NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE grants DROP COLUMN revocation_applied_at');
    await runner.query('CREATE INDEX grants_revoked ON grants (revoked_at) WHERE revoked_at IS NOT NULL');
  }
}
