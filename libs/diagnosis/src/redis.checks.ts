import type { RedisStatus } from '#platform/status/status-report.js';
import { declareChecks, type Finding, Findings } from './finding.js';

export const DOCTOR_REDIS_CHECKS = declareChecks({
  'redis-evicts':
    'error: Redis evicts nothing, and remembers sessions, used codes and used proofs [RFC 6749 4.1.2; RFC 9449 11.1; ASVS 5.0 10.4.2]',
  'redis-write-failed': 'error: Redis can write its append-only file',
  'redis-not-replayed': 'error: Redis reads its whole append-only file when it starts',
  'redis-no-primary': 'error: the apps write to a primary',
  'redis-not-persistent':
    'warning: Redis writes an append-only file: a restart does not log users out or forget used codes',
  'redis-no-replica': 'info: Redis has a replica that can take over',
});

export interface ObservedRedis {
  readonly status: RedisStatus;
  readonly seenBy: readonly string[];
}

export function examineRedis(observed: readonly ObservedRedis[]): Finding[] {
  return observed.flatMap(({ status, seenBy }) => {
    const findings = new Findings(DOCTOR_REDIS_CHECKS, `Redis of ${seenBy.join(', ')}`);
    const { maxmemory_policy: policy, appendonly, aof_last_write_status: written, role } = status;
    // A managed Redis may hide settings, which are then `unknown`.
    if (!['noeviction', 'unknown'].includes(policy))
      findings.add('redis-evicts', `maxmemory-policy is ${policy}`);
    if (written.split(',').includes('err'))
      findings.add('redis-write-failed', 'the last write to the append-only file failed');
    if (status.aof_replay.split(',').includes('no'))
      findings.add(
        'redis-not-replayed',
        'the user default may not execute commands: after a restart, Redis lacks most grants (redis#14541)',
      );
    if (role.split(',').some((name) => name !== 'master' && name !== 'unknown'))
      findings.add('redis-no-primary', `the server is a ${role}`);
    if (appendonly.split(',').includes('no'))
      findings.add(
        'redis-not-persistent',
        'appendonly is no: a restart of Redis logs users out, and loses codes that were not redeemed; grants are restored from PostgreSQL',
      );
    if (status.connected_replicas === 0) findings.add('redis-no-replica', 'no replica is connected');
    return findings.list;
  });
}
