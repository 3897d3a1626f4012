import { ValidateBy } from 'class-validator';
import { parseRedisUrl } from '../redis/redis-url.js';
import { eachServer } from './each-server.js';

const TARGETS = [null, 'read-write', 'primary'];

/** PostgreSQL: one server, or several, comma-separated, of which the one that takes writes is used. */
export function DatabaseUrlVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'databaseUrl',
    validator: {
      validate: (value) => typeof value === 'string' && isDatabase(value),
      defaultMessage: (argument) =>
        `${argument?.property} must be a URL, postgres://… or postgresql://…, of one server or several (a:5432,b:5432); ` +
        'target_session_attrs, if given, must be read-write or primary',
    },
  });
}

function isDatabase(value: string): boolean {
  const urls = eachServer(value).map((url) => new URL(url));
  return (
    urls.length > 0 &&
    urls.every(
      ({ protocol, searchParams }) =>
        /^postgres(ql)?:$/.test(protocol) && TARGETS.includes(searchParams.get('target_session_attrs')),
    )
  );
}

/** A PostgreSQL schema whose name needs no quotes; empty selects the first of the role's `search_path`. */
export function SchemaVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'schema',
    validator: {
      validate: (value) => typeof value === 'string' && (value === '' || isSchemaName(value)),
      defaultMessage: (argument) => `${argument?.property} must be ${SCHEMA_RULE}`,
    },
  });
}

/** The rule of `isSchemaName`, for error messages. */
export const SCHEMA_RULE =
  'a schema name: 1 to 63 characters of a-z, 0-9 and _, no digit first, not pg_… or information_schema';

export function isSchemaName(value: string): boolean {
  return /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,62}$/.test(value);
}

/** Redis: one server, a Cluster, or a master that Sentinels know. */
export function RedisUrlVariable(): PropertyDecorator {
  return ValidateBy({
    name: 'redisUrl',
    validator: {
      validate: (value) => typeof value === 'string' && parseRedisUrl(value) !== null,
      defaultMessage: (argument) =>
        `${argument?.property} must be a URL, redis://host, redis-cluster://host,host or redis-sentinel://host,host/master ` +
        '(with TLS rediss…; a Cluster has no database numbers)',
    },
  });
}
