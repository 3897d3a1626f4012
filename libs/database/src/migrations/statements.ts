/**
 * Returns the statements of a function in plpgsql, without the right of PUBLIC to execute it. Uses SECURITY DEFINER,
 * like a foreign key, so that a role that may write one table needs no rights on the other.
 * @param text signature, `AS` at the end of the line, and body
 */
export function definerFunction(text: string): string[] {
  const [signature, body] = splitAtAs(text);
  return [
    `CREATE FUNCTION ${signature} LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$${body} $$`,
    `REVOKE ALL ON FUNCTION ${signature.split(' RETURNS ')[0]} FROM PUBLIC`,
  ];
}

/**
 * Rejects stricter isolation levels, under which a function that has waited for a lock does not see rows that other
 * transactions committed during the wait. Any role may choose the isolation level of its transactions.
 */
export const REQUIRE_READ_COMMITTED = `IF current_setting('transaction_isolation') IN ('repeatable read', 'serializable') THEN
        RAISE feature_not_supported USING
          MESSAGE = 'isolation_level_not_read_committed', DETAIL = current_setting('transaction_isolation');
      END IF;`;

/**
 * Returns the statements of a trigger and its function, which has the same name.
 * @param text name and event, `AS` at the end of the line, and body of the function
 */
export function trigger(text: string): string[] {
  const [event, body] = splitAtAs(text);
  const [name = ''] = event.split(' ', 1);
  return [
    ...definerFunction(`${name}() RETURNS trigger AS\n${body}`),
    `CREATE TRIGGER ${event} EXECUTE FUNCTION ${name}()`,
  ];
}

function splitAtAs(text: string): [head: string, body: string] {
  const end = text.indexOf(' AS\n');
  return [text.slice(0, end), text.slice(end + ' AS\n'.length).trim()];
}
