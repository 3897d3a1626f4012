import 'reflect-metadata';
import { ConfigurationError, loadConfiguration } from '#platform/configuration/load-configuration.js';
import { IsDatabaseUrl } from '#platform/configuration/variables.js';
import { parseRedisUrl, IsRedisUrl } from '#platform/redis/redis-url.js';

class Configuration {
  @IsDatabaseUrl() DATABASE_URL: string;
  @IsRedisUrl() REDIS_URL: string;
}

const [DATABASE_URL, REDIS_URL] = ['postgres://u:p@a/db', 'redis://a'];

describe('REDIS_URL', () => {
  it('accepts a single server', () => {
    const url = 'rediss://u:p@a:6380/3';
    expect(parseRedisUrl(url)).toEqual({ kind: 'single', url });
  });

  it('accepts Cluster nodes with separate ports, a common login and TLS', () => {
    expect(parseRedisUrl('rediss-cluster://oauth:a%40b,c@a:7000,[::1]:7001,b')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'a', port: 7000 },
        { host: '::1', port: 7001 },
        { host: 'b', port: 6379 },
      ],
      username: 'oauth',
      password: 'a@b,c',
      tls: true,
    });
  });

  it('accepts Sentinels with a master, a database and separate logins', () => {
    const url = 'redis-sentinel://u:p@s1,s2:26380/main?db=2&sentinel_username=x&sentinel_password=y%2C';
    expect(parseRedisUrl(url)).toEqual({
      kind: 'sentinel',
      sentinels: [
        { host: 's1', port: 26_379 },
        { host: 's2', port: 26_380 },
      ],
      master: 'main',
      database: 2,
      username: 'u',
      password: 'p',
      sentinelUsername: 'x',
      sentinelPassword: 'y,',
      tls: false,
    });
  });
});

describe('the URL of a store', () => {
  it.each([
    'redis://secret@a,b',
    'redis-cluster://:secret@',
    'redis-cluster://:secret@a,',
    'redis-cluster://:secret@a/1',
    'redis-cluster://:secret@a?db=1',
    'redis-sentinel://:secret@a',
    'redis-sentinel://:secret@a/main?database=1',
    'redis-sentinel://:secret@a/main?db=x',
    'http://:secret@a',
    'secret',
  ])('is rejected with a message that does not contain the URL: REDIS_URL=%s', (url) => {
    expect(problems({ DATABASE_URL, REDIS_URL: url })).toEqual([
      expect.stringMatching(/^REDIS_URL must be a URL/),
    ]);
    expect(String(problems({ DATABASE_URL, REDIS_URL: url }))).not.toContain('secret');
  });

  it.each([
    'postgres://u:secret@a:x,b/db',
    'postgres://u:secret@a,,b/db',
    'postgres://u:secret@a,b/db?target_session_attrs=standby',
    'mysql://u:secret@a/db',
  ])('is rejected with a message that does not contain the URL: DATABASE_URL=%s', (url) => {
    expect(problems({ DATABASE_URL: url, REDIS_URL })).toEqual([
      expect.stringMatching(/^DATABASE_URL must be a URL/),
    ]);
    expect(String(problems({ DATABASE_URL: url, REDIS_URL }))).not.toContain('secret');
  });

  it.each([
    'postgresql://u:p,@a:5432,b:5433/db?target_session_attrs=read-write&sslmode=verify-full',
    'postgres://u:p@a,b/db?target_session_attrs=primary',
    'postgres://u:p@a/db',
    'postgres:///db?host=/run/postgresql',
  ])('is accepted: DATABASE_URL=%s', (url) => {
    expect(problems({ DATABASE_URL: url, REDIS_URL })).toEqual([]);
  });
});

function problems(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfiguration(Configuration, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}
