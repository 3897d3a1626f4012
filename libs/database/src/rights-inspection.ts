import type { DataSource } from 'typeorm';
import type { RightsDifference } from '#platform/status/status-report.js';
import { columnNames, DATABASE_RIGHTS, type DatabaseProcess } from './roles.js';
import { tableColumns } from './grant-rights.js';

/** The column is null for a right on the whole table or function. */
interface Right {
  readonly privilege: string;
  readonly object: string;
  readonly column: string | null;
}

/** Selects the rights of the current role and of its groups. */
const HELD = `
  WITH tables AS (
    SELECT oid, relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
  )
  SELECT privilege, relname AS object, attname AS column
  FROM tables JOIN pg_attribute ON attrelid = oid AND attnum > 0 AND NOT attisdropped,
    unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) AS privilege
  WHERE has_column_privilege(oid, attnum, privilege)
  UNION ALL
  SELECT privilege, relname, NULL FROM tables, unnest(ARRAY['DELETE', 'TRUNCATE', 'TRIGGER']) AS privilege
  WHERE has_table_privilege(oid, privilege)
  UNION ALL
  SELECT 'EXECUTE', proname, NULL FROM pg_proc
  WHERE pronamespace = current_schema()::regnamespace AND prorettype <> 'trigger'::regtype
    AND has_function_privilege(oid, 'EXECUTE')
    AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype = 'e')
  UNION ALL
  SELECT 'CREATE', current_schema(), NULL WHERE has_schema_privilege(current_schema(), 'CREATE')
  UNION ALL
  SELECT unnest(array_remove(ARRAY[CASE WHEN rolsuper THEN 'SUPERUSER' END, CASE WHEN rolbypassrls THEN 'BYPASSRLS' END,
           CASE WHEN rolcreaterole THEN 'CREATEROLE' END], NULL)), rolname, NULL
  FROM pg_roles WHERE rolname = current_user`;

/** Compares the rights of a connection with those that a process needs. */
export async function rightsDifference(
  dataSource: DataSource,
  process: DatabaseProcess,
): Promise<RightsDifference> {
  const [held, [self]] = [
    await dataSource.query<Right[]>(HELD),
    await dataSource.query<{ user: string }[]>('SELECT current_user AS "user"'),
  ];
  const columnsOf = tableColumns(dataSource);
  const declared = declaredRights(process, columnsOf);
  return {
    user: self?.user ?? '',
    extra: described(without(held, declared), columnsOf),
    missing: described(without(declared, held), columnsOf),
  };
}

function declaredRights(
  process: DatabaseProcess,
  columnsOf: ReadonlyMap<string, readonly string[]>,
): Right[] {
  const { tables, functions } = DATABASE_RIGHTS[process];
  const ofTables = Object.entries(tables).flatMap(([object, rights]) => {
    const all = columnsOf.get(object) ?? [];
    const ofColumns = (['select', 'insert', 'update'] as const).flatMap((right) =>
      columnNames(rights[right], all).map((column) => ({ privilege: right.toUpperCase(), object, column })),
    );
    return rights.delete ? [...ofColumns, { privilege: 'DELETE', object, column: null }] : ofColumns;
  });
  return [...ofTables, ...functions.map((object) => ({ privilege: 'EXECUTE', object, column: null }))];
}

function without(rights: readonly Right[], others: readonly Right[]): Right[] {
  const keyOf = ({ privilege, object, column }: Right) => `${privilege} ${object} ${column ?? ''}`;
  const known = new Set(others.map(keyOf));
  return rights.filter((right) => !known.has(keyOf(right)));
}

function described(rights: readonly Right[], columnsOf: ReadonlyMap<string, readonly string[]>): string[] {
  const columns = new Map<string, { object: string; names: string[] }>();
  for (const { privilege, object, column } of rights) {
    const right = columns.get(`${privilege} ${object}`) ?? { object, names: [] };
    columns.set(`${privilege} ${object}`, right);
    if (column !== null) right.names.push(column);
  }
  return [...columns]
    .map(([text, { object, names }]) =>
      names.length === 0 || names.length === columnsOf.get(object)?.length
        ? text
        : `${text} (${names.toSorted().join(', ')})`,
    )
    .sort();
}
