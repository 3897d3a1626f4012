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
