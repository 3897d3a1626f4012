import type { RecordedKey } from '../token-key.store.js';
import { KeyRing } from '../key-ring.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { AdministrationError } from '#platform/validation/administration.error.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import { processNames } from '#operations/wording.js';
import { isNeeded, type KeyReport, keyReport, silentApps } from './key-report.js';

export const STEPS = 3;

export interface RotationStep {
  readonly step: 1 | 2 | 3;
  /** Action on the keys with the ids `keys`. */
  readonly action: 'add' | 'sign' | 'remove';
  readonly keys: readonly string[];
  readonly tokenKeys: string;
}

declare module '#platform/validation/problem.js' {
  interface Problems {
    /** Keys that live tokens need, and the times until which they may need them. */
    keys_needed: { readonly keys: readonly { readonly id: string; readonly until: string }[] };
    keys_unknown: { readonly app: string };
    token_keys_unused: null;
    token_keys_differ: { readonly processes: string };
    key_unrecorded: { readonly id: string };
  }
}

/** Thrown if the step would invalidate live tokens, or if the effect of the step is unknown. */
export class UnsafeStepError extends AdministrationError {
  constructor(found: Problem) {
    super('unsafe', [found]);
  }
}

export interface RotationInput {
  readonly tokenKeys: string;
  readonly begin: boolean;
  readonly statuses: readonly ServiceStatus[];
  readonly records: readonly RecordedKey[];
  readonly now: Date;
  readonly newKey: () => string;
}

/**
 * Decides on the next step from the configured and the recorded keys, so that the operator does not need to remember
 * the last step:
 *
 * 1. Append a new key, so that every process can verify its signatures.
 * 2. When every process has the new key (a key that has never signed), move it to the front, so that it signs.
 * 3. When no live token needs the older keys, remove them.
 *
 * @throws UnsafeStepError with the condition to wait for, or the action to take first
 */
export function nextStep({ tokenKeys, begin, statuses, records, now, newKey }: RotationInput): RotationStep {
  const texts = tokenKeys.split(',').map((key) => key.trim());
  const ids = KeyRing.parse(tokenKeys).keys.map(({ id }) => id);
  requireEverywhere(ids, keyReport(statuses, records, now));
  const recorded = ids.map((id) => recordOf(id, records));
  const textOf = (id: string): string => texts[ids.indexOf(id)] ?? '';

  const decided = decideStep(recorded, begin, now);
  if (decided.action === 'add') {
    const added = newKey();
    return {
      step: 1,
      action: 'add',
      keys: KeyRing.parse(added).keys.map(({ id }) => id),
      tokenKeys: [...texts, added].join(','),
    };
  }
  return { ...decided, tokenKeys: orderAfter(decided, ids).map(textOf).join(',') };
}

export type Decision =
  | { readonly step: 1; readonly action: 'add'; readonly keys: readonly string[] }
  | { readonly step: 2; readonly action: 'sign'; readonly keys: readonly string[] }
  | { readonly step: 3; readonly action: 'remove'; readonly keys: readonly string[] };

/** @param recorded keys of the ring, in ring order @throws UnsafeStepError while live tokens need the older keys */
export function decideStep(recorded: readonly RecordedKey[], begin: boolean, now: Date): Decision {
  const older = recorded.slice(1);
  const fresh = older.find(({ neededUntil }) => neededUntil === null)?.id;
  if (fresh !== undefined) return { step: 2, action: 'sign', keys: [fresh] };
  if (older.length === 0 || begin) return { step: 1, action: 'add', keys: [] };
  const unneeded = older.filter((record) => !isNeeded(record, now)).map(({ id }) => id);
  if (unneeded.length > 0) return { step: 3, action: 'remove', keys: unneeded };
  const keys = older.map(({ id, neededUntil }) => ({ id, until: neededUntil?.toISOString() ?? '' }));
  throw new UnsafeStepError(problem('keys_needed', [], { keys }));
}

export function orderAfter({ action, keys }: Decision, ids: readonly string[]): string[] {
  const others = ids.filter((id) => !keys.includes(id));
  return action === 'sign' ? [...keys, ...others] : others;
}

function requireEverywhere(ids: readonly string[], { processes }: KeyReport): void {
  const [silent] = silentApps(processes);
  if (silent !== undefined) throw new UnsafeStepError(problem('keys_unknown', [], { app: silent }));
  const hasRing = ({ keys }: { keys: readonly { id: string }[] }) =>
    keys.length === ids.length && keys.every(({ id }, at) => id === ids[at]);
  const others = processes.filter((process) => !hasRing(process));
  if (others.length === processes.length) throw new UnsafeStepError(problem('token_keys_unused', []));
  if (others.length > 0)
    throw new UnsafeStepError(problem('token_keys_differ', [], { processes: processNames(others) }));
}

export function recordOf(id: string, records: readonly RecordedKey[]): RecordedKey {
  const record = records.find((candidate) => candidate.id === id);
  if (record) return record;
  throw new UnsafeStepError(problem('key_unrecorded', [], { id }));
}
