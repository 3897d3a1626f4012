import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets grants outlive their user's row, because the grant's record is what revokes its tokens. Triggers refuse to delete or
 * disable a user with a live grant, also by plain SQL. Likewise a client's row stays while grants to it are recorded:
 * `operator client delete` keeps the row.
 */
export class RetainGrantsOfDeletedUsers1795330000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Instead of a foreign key, which would not let a user's row go before its grants.
    await createTriggerFunction(runner, 'grants_need_user', NEED_USER);
    await runner.query(`
      CREATE TRIGGER grants_need_user BEFORE INSERT OR UPDATE OF user_id ON grants
        FOR EACH ROW EXECUTE FUNCTION grants_need_user()`);
    await createTriggerFunction(runner, 'users_end_grants_first', ROW_ENDS_GRANTS_FIRST);
    await runner.query(`
      CREATE TRIGGER users_end_grants_first AFTER DELETE OR UPDATE OF id, disabled_at ON users
        FOR EACH ROW EXECUTE FUNCTION users_end_grants_first()`);
    await createTriggerFunction(runner, 'users_truncate_end_grants_first', TRUNCATE_ENDS_GRANTS_FIRST);
    await runner.query(`
      CREATE TRIGGER users_truncate_end_grants_first BEFORE TRUNCATE ON users
        FOR EACH STATEMENT EXECUTE FUNCTION users_truncate_end_grants_first()`);
    await createTriggerFunction(runner, 'users_inherit_no_grants', INHERIT_NO_GRANTS);
    await runner.query(`
      CREATE TRIGGER users_inherit_no_grants AFTER INSERT OR UPDATE OF id ON users
        FOR EACH ROW EXECUTE FUNCTION users_inherit_no_grants()`);
    await createTriggerFunction(runner, 'clients_keep_grants', CLIENT_KEEPS_GRANTS);
    await runner.query(`
      CREATE TRIGGER clients_keep_grants BEFORE DELETE ON clients
        FOR EACH ROW EXECUTE FUNCTION clients_keep_grants()`);
    await createTriggerFunction(runner, 'clients_truncate_keep_grants', TRUNCATE_KEEPS_GRANTS);
    await runner.query(`
      CREATE TRIGGER clients_truncate_keep_grants BEFORE TRUNCATE ON clients
        FOR EACH STATEMENT EXECUTE FUNCTION clients_truncate_keep_grants()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION grants_need_user, users_end_grants_first, users_truncate_end_grants_first, users_inherit_no_grants,
        clients_keep_grants, clients_truncate_keep_grants CASCADE`);
  }
}

/** The share lock makes a later delete or disable wait and see the grant; an earlier one is visible here. */
const NEED_USER = `
  BEGIN
    PERFORM FROM users WHERE id = NEW.user_id AND disabled_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
      RAISE foreign_key_violation
        USING MESSAGE = format('user %s is unknown or disabled, and cannot allow anything', NEW.user_id);
    END IF;
    RETURN NEW;
  END`;

/**
 * Refuses while a grant is live. Revokes grants whose record has expired, because a recent use may not be recorded yet and
 * the grant may be live in Redis.
 *
 * @param whose SQL condition on grants
 */
const endGrantsFirst = (whose: string, subject: string, command: string): string => `
    IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
      RAISE feature_not_supported USING
        MESSAGE = 'users are deleted and disabled by transactions of the isolation level READ COMMITTED only',
        DETAIL = 'Another one might not see a grant that was recorded after it began.';
    END IF;
    WITH expired AS (
      SELECT id FROM grants WHERE ${whose} AND revoked_at IS NULL AND expires_at <= now() ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE grants g SET revoked_at = now() FROM expired WHERE g.id = expired.id;
    IF EXISTS (SELECT FROM grants WHERE ${whose} AND revoked_at IS NULL) THEN
      RAISE restrict_violation USING
        MESSAGE = ${subject} || ' grants that have not ended: their tokens would go on',
        HINT = 'Run "operator user ' || ${command} || '" instead: it ends them first.';
    END IF;
    RETURN NULL;`;

/** Runs after the row is locked and changed, so that it sees grants committed while the statement waited for the lock. */
const ROW_ENDS_GRANTS_FIRST = `
  BEGIN
    IF TG_OP = 'UPDATE' AND NEW.id = OLD.id AND (NEW.disabled_at IS NULL OR OLD.disabled_at IS NOT NULL) THEN
      RETURN NULL;
    END IF;
    ${endGrantsFirst(
      'user_id = OLD.id',
      "format('user %s has', OLD.id)",
      "CASE WHEN TG_OP = 'UPDATE' AND NEW.id = OLD.id THEN 'disable' ELSE 'delete' END",
    )}
  END`;

const TRUNCATE_ENDS_GRANTS_FIRST = `BEGIN ${endGrantsFirst('true', "'users have'", "'delete'")} END`;

/** Runs after the insert, which waits for a concurrent delete of the previous row with this id. */
const INHERIT_NO_GRANTS = `
  BEGIN
    IF NEW.id IS DISTINCT FROM OLD.id AND EXISTS (SELECT FROM grants WHERE user_id = NEW.id) THEN
      RAISE unique_violation USING
        MESSAGE = format('the id %s was another user''s, whose grants are still recorded', NEW.id),
        HINT = 'Choose an id that nobody had, or leave it out.';
    END IF;
    RETURN NULL;
  END`;

/** Adds a hint. The foreign key also refuses, and sees a grant that is being recorded concurrently. */
const keepGrants = (whose: string, subject: string): string => `
  BEGIN
    IF EXISTS (SELECT FROM grants WHERE ${whose}) THEN
      RAISE restrict_violation USING
        MESSAGE = ${subject} || ' grants on record, which are what revokes their tokens',
        HINT = 'Run "operator client delete" instead: it ends the grants, and keeps the row.';
    END IF;
    RETURN OLD;
  END`;

const CLIENT_KEEPS_GRANTS = keepGrants('client_id = OLD.client_id', "format('client %s has', OLD.client_id)");
const TRUNCATE_KEEPS_GRANTS = keepGrants('true', "'clients have'");

/** SECURITY DEFINER, as a foreign key works: a role that may write users needs no rights on grants. */
async function createTriggerFunction(runner: QueryRunner, name: string, body: string): Promise<void> {
  const [{ schema } = { schema: 'public' }] = (await runner.query(
    'SELECT quote_ident(current_schema()) AS schema',
  )) as { schema: string }[];
  await runner.query(`
    CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${schema}, pg_temp
    AS $$${body} $$`);
  await runner.query(`REVOKE ALL ON FUNCTION ${name}() FROM PUBLIC`);
}
