import type { RedisStatus } from '#platform/status/status-report.js';
import { check, type DoctorChecks, type Finding, findingOf } from './finding.js';

export const DOCTOR_REDIS_CHECKS = {
  'redis-evicts': check(
    'error',
    'Redis evicts nothing, and remembers sessions, used codes and used proofs',
    'RFC 6749 4.1.2',
    'RFC 9449 11.1',
    'ASVS 5.0 10.4.2',
  ),
  'redis-write-failed': check('error', 'Redis can write its append-only file'),
  'redis-not-replayed': check('error', 'Redis reads its whole append-only file when it starts'),
  'redis-no-primary': check('error', 'the apps write to a primary'),
  'redis-not-persistent': check(
    'warning',
    'Redis writes an append-only file: a restart does not log users out or forget used codes',
  ),
  'redis-no-replica': check('info', 'Redis has a replica that can take over'),
} satisfies DoctorChecks;

const finding = findingOf(DOCTOR_REDIS_CHECKS);

export interface ObservedRedis {
  readonly status: RedisStatus;
  readonly seenBy: readonly string[];
}

export function examineRedis(observed: readonly ObservedRedis[]): Finding[] {
  return observed.flatMap(({ status, seenBy }) => {
    const subject = `Redis of ${seenBy.join(', ')}`;
    const { maxmemory_policy: policy, appendonly, aof_last_write_status: written, role } = status;
    // A managed Redis may hide settings, which are then `unknown`.
    const findings: Finding[] = [];
    const add = (...args: Parameters<typeof finding>) => findings.push(...finding(...args));
    if (!['noeviction', 'unknown'].includes(policy))
      add('redis-evicts', subject, `maxmemory-policy is ${policy}`);
    if (written.split(',').includes('err'))
      add('redis-write-failed', subject, 'the last write to the append-only file failed');
    if (status.aof_replay.split(',').includes('no'))
      add(
        'redis-not-replayed',
        subject,
        'the user default may not execute commands: after a restart, Redis lacks most grants (redis#14541)',
      );
    if (role.split(',').some((name) => name !== 'master' && name !== 'unknown'))
      add('redis-no-primary', subject, `the server is a ${role}`);
    if (appendonly.split(',').includes('no'))
      add(
        'redis-not-persistent',
        subject,
        'appendonly is no: a restart of Redis logs users out, and loses codes that were not redeemed; grants are restored from PostgreSQL',
      );
    if (status.connected_replicas === 0) add('redis-no-replica', subject, 'no replica is connected');
    return findings;
  });
}
