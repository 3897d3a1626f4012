import type { QueryRunner } from 'typeorm';

/**
 * Creates a function in plpgsql that only triggers call. Uses SECURITY DEFINER, like a foreign key, so that a role that
 * may write one table needs no rights on the other.
 */
export async function createFunction(runner: QueryRunner, signature: string, body: string): Promise<void> {
  const schema = await currentSchema(runner);
  await runner.query(`
    CREATE FUNCTION ${signature} LANGUAGE plpgsql SECURITY DEFINER SET search_path = ${schema}, pg_temp
    AS $$${body} $$`);
  await runner.query(`REVOKE ALL ON FUNCTION ${signature.split(' RETURNS ')[0]} FROM PUBLIC`);
}

export function createTriggerFunction(runner: QueryRunner, name: string, body: string): Promise<void> {
  return createFunction(runner, `${name}() RETURNS trigger`, body);
}

export async function currentSchema(runner: QueryRunner): Promise<string> {
  const [row] = await runner.manager.query<{ schema: string }[]>(
    'SELECT quote_ident(current_schema()) AS schema',
  );
  if (!row) throw new Error('the database did not return its current schema');
  return row.schema;
}
