import 'reflect-metadata';
import fc from 'fast-check';
import { ConfigurationError, loadConfiguration } from '#platform/configuration/load-configuration.js';
import { IsDatabaseUrl } from '#platform/configuration/variables.js';
import { IsRedisUrl, parseRedisUrl } from '#platform/redis/redis-url.js';
import { ServerClock } from '#platform/redis/script-deadline.js';

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

/** A sample: the pause before it, the delays before and after the server reads its clock, and the drift since the last sample. */
const sample = fc.record({
  pause: fc.integer({ min: 0, max: 5_000 }),
  before: fc.integer({ min: 0, max: 3_000 }),
  after: fc.integer({ min: 0, max: 3_000 }),
  drift: fc.double({ min: -0.0005, max: 0.0005, noNaN: true }),
  step: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -60_000, max: 60_000 }) },
  ),
});

describe('the clock of a server', () => {
  it('is never later than the true clock, despite delays, drift, and steps that a fast sample has shown', () => {
    fc.assert(
      fc.property(
        fc.array(sample, { minLength: 1, maxLength: 20 }),
        fc.nat({ max: 5_000 }),
        (samples, later) => {
          const clock = new ServerClock();
          let [now, offset] = [0, 1_800_000_000_000];
          for (const { pause, before, after, drift, step } of samples) {
            now += pause;
            const isFast = step !== 0;
            offset += step + drift * pause;
            const sentAt = now;
            now += isFast ? 0 : before;
            const server = now + offset;
            now += isFast ? 0 : after;
            clock.learn(server, sentAt, now);
          }
          now += later;
          offset -= 0.0005 * later;
          expect(clock.at(now, now)).toBeLessThanOrEqual(now + offset);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is as exact as the fastest sample, if the later samples were slow', () => {
    const clock = new ServerClock();
    clock.learn(1_000_010, 10, 10);
    clock.learn(1_001_010, 1_000, 2_000);
    expect(clock.at(2_000, 2_000)).toBe(1_001_998);
  });
});
