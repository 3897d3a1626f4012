import type { KeyObject } from 'node:crypto';
import type { RecordedKey } from '../token-key.store.js';
import { DEFAULT_SIGNING_ALGORITHM, type SigningAlgorithm, SigningKeys } from '#oauth/openid/signing-keys.js';
import type { ServiceStatus } from '#platform/status/status-report.js';
import { problem } from '#platform/validation/problem.js';
import { processNames } from '#operations/wording.js';
import { decideStep, orderAfter, recordOf, type RotationStep, UnsafeStepError } from './rotation.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    algorithm_without_key: { readonly alg: string };
    id_token_keys_unknown: { readonly app: string };
    id_token_keys_differ: { readonly processes: string };
    /** In seconds. */
    key_published_recently: {
      readonly processes: string;
      readonly publishedFor: number;
      readonly wait: number;
    };
  }
}

export interface IdTokenKeyStep extends Omit<RotationStep, 'tokenKeys'> {
  readonly alg: SigningAlgorithm;
  /** Next value of ID_TOKEN_KEYS for token: private keys, as a JWK Set. */
  readonly idTokenKeys: string;
}

export interface IdTokenRotationInput {
  readonly idTokenKeys: string;
  readonly alg?: SigningAlgorithm | undefined;
  readonly begin: boolean;
  readonly statuses: readonly ServiceStatus[];
  readonly records: readonly RecordedKey[];
  readonly now: Date;
  readonly newKey: (alg: SigningAlgorithm) => Promise<KeyObject>;
  readonly publishedForS?: number;
}

/** Seconds: Cache-Control of the key set, and a minute in which some processes may still serve the old key set. */
const PUBLISHED_FOR_S = 300 + 60;

/**
 * Decides on the next step for one algorithm:
 *
 * 1. Append a new key, which is then published.
 * 2. When no relying party caches a key set without the new key, move the new key before the old key, so that it signs.
 * 3. When the ID tokens of the old key have expired, remove the old key.
 *
 * @throws UnsafeStepError with the condition to wait for, or the action to take first
 */
export async function nextIdTokenStep(input: IdTokenRotationInput): Promise<IdTokenKeyStep> {
  const { begin, statuses, records, now, newKey, publishedForS = PUBLISHED_FOR_S } = input;
  const keys = SigningKeys.parse(input.idTokenKeys);
  requireEverywhere(keys, statuses);
  const alg = input.alg ?? rotating(keys) ?? DEFAULT_SIGNING_ALGORITHM;
  const ids = keys.ids.filter((key) => key.alg === alg).map(({ id }) => id);
  if (ids.length === 0) throw new UnsafeStepError(problem('algorithm_without_key', [], { alg }));
  const decided = decideStep(
    ids.map((id) => recordOf(id, records)),
    begin,
    now,
  );
  const { keys: jwks } = keys.privateJwks;
  if (decided.action === 'add') {
    const added = { ...(await newKey(alg)).export({ format: 'jwk' }) };
    const next = SigningKeys.parse(JSON.stringify({ keys: [...jwks, added] }));
    const { id = '' } = next.ids.at(-1) ?? {};
    return { ...decided, alg, keys: [id], idTokenKeys: JSON.stringify(next.privateJwks) };
  }
  if (decided.action === 'sign') requirePublished(statuses, publishedForS);
  const others = keys.ids.filter((key) => key.alg !== alg).map(({ id }) => id);
  const order = [...orderAfter(decided, ids), ...others];
  const next = order.flatMap((id) => jwks.filter(({ kid }) => kid === id));
  return { ...decided, alg, idTokenKeys: JSON.stringify({ keys: next }) };
}

const rotating = (keys: SigningKeys): SigningAlgorithm | undefined =>
  keys.algorithms.find((alg) => keys.ids.filter((key) => key.alg === alg).length > 1);

/** The order of the keys matters only in the token app, which signs with the first key of each algorithm. */
function requireEverywhere(keys: SigningKeys, statuses: readonly ServiceStatus[]): void {
  for (const app of ['authorize', 'token']) {
    if (!statuses.some((status) => status.service === app && status.id_token_keys))
      throw new UnsafeStepError(problem('id_token_keys_unknown', [], { app }));
  }
  const expected = keys.ids.map(({ id }) => id);
  const others = statuses.filter(({ service, id_token_keys: published }) => {
    if (!published) return false;
    const ids = published.map(({ id }) => id);
    const isSame =
      service === 'token'
        ? perAlgorithm(published) === perAlgorithm(keys.ids)
        : ids.toSorted().join() === expected.toSorted().join();
    return !isSame;
  });
  if (others.length > 0)
    throw new UnsafeStepError(problem('id_token_keys_differ', [], { processes: processNames(others) }));
}

const perAlgorithm = (keys: readonly { readonly id: string; readonly alg: string }[]): string =>
  keys
    .toSorted((a, b) => a.alg.localeCompare(b.alg))
    .map(({ id }) => id)
    .join();

/** A process reads ID_TOKEN_KEYS only when it starts, so it has published its keys since then. */
function requirePublished(statuses: readonly ServiceStatus[], publishedForS: number): void {
  const waits = statuses
    .filter(({ service }) => service === 'token')
    .map((status) => ({ status, left: publishedForS - ageS(status) }))
    .filter(({ left }) => left > 0);
  if (waits.length === 0) return;
  const longest = Math.ceil(Math.max(...waits.map(({ left }) => left)));
  const processes = processNames(waits.map(({ status }) => status));
  const values = { processes, publishedFor: publishedForS, wait: longest };
  throw new UnsafeStepError(problem('key_published_recently', [], values));
}

const ageS = ({ started_at: start, time }: ServiceStatus): number =>
  (Date.parse(time) - Date.parse(start)) / 1000;
