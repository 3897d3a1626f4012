import type { QueryRunner } from 'typeorm';

/**
 * Creates a function in plpgsql, without the right of PUBLIC to execute it. Uses SECURITY DEFINER, like a foreign key,
 * so that a role that may write one table needs no rights on the other.
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

/** Creates a trigger and its function, which has the same name. */
export async function createTrigger(
  runner: QueryRunner,
  name: string,
  event: string,
  body: string,
): Promise<void> {
  await createTriggerFunction(runner, name, body);
  await runner.query(`CREATE TRIGGER ${name} ${event} EXECUTE FUNCTION ${name}()`);
}

export async function currentSchema(runner: QueryRunner): Promise<string> {
  const [row] = await runner.manager.query<{ schema: string }[]>(
    'SELECT quote_ident(current_schema()) AS schema',
  );
  if (!row) throw new Error('the database did not return its current schema');
  return row.schema;
}
