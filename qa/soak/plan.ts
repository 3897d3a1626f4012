import { randomInt } from 'node:crypto';
import { parseOptions, UsageError } from '../command.js';

export const APPS = ['authorize', 'token', 'resource'] as const;
export type App = (typeof APPS)[number];
const SERVERS = ['redis', 'postgres', 'nats'] as const;
export type Server = (typeof SERVERS)[number];

export type ReplicaName = `${App} ${1 | 2}`;

/**
 * After a fault, a stopped process gets SIGCONT, and any other process starts again: with its data if it was
 * `killed`, and without data if it was `emptied`. `restarted` removes a replica from load balancing before SIGTERM.
 * `cut off` resets connections and rejects new ones. `half-open` transfers no bytes.
 */
export type Effect = 'killed' | 'stopped' | 'restarted' | 'cut off' | 'half-open' | 'emptied';

export interface FaultKind {
  readonly target: App | Server;
  readonly effect: Effect;
  /** Time after the fault in which requests may still fail. */
  readonly settleMs: number;
}

/** Clients detect a closed connection within a second, and reconnect. */
const RECONNECT_MS = 5_000;
/** Clients close a silent connection after 3 s (Redis) or 4 s (NATS). */
const SILENT_CONNECTION_MS = 10_000;
/** A query times out after 6 s. The next query may then wait 10 s for another silent connection of the pool. */
const SILENT_POOL_MS = 20_000;

export const FAULT_KINDS: readonly FaultKind[] = [
  ...APPS.flatMap((target) => [
    { target, effect: 'killed', settleMs: RECONNECT_MS } as const,
    { target, effect: 'stopped', settleMs: RECONNECT_MS } as const,
    { target, effect: 'restarted', settleMs: RECONNECT_MS } as const,
  ]),
  ...SERVERS.flatMap((target) => [
    { target, effect: 'killed', settleMs: RECONNECT_MS } as const,
    { target, effect: 'stopped', settleMs: SILENT_CONNECTION_MS } as const,
    { target, effect: 'cut off', settleMs: RECONNECT_MS } as const,
    {
      target,
      effect: 'half-open',
      settleMs: target === 'postgres' ? SILENT_POOL_MS : SILENT_CONNECTION_MS,
    } as const,
  ]),
  { target: 'redis', effect: 'emptied', settleMs: RECONNECT_MS },
];

export function faultName({ target, effect }: FaultKind): string {
  return `${target} ${effect}`;
}

export interface Fault {
  readonly kind: FaultKind;
  /** Replica that fails, or that loses its connection to a failed server; null for all replicas. */
  readonly replica: ReplicaName | null;
}

export interface Step {
  readonly faults: readonly Fault[];
  readonly durationMs: number;
  readonly pauseMs: number;
}

/** Pseudo-random numbers (Mulberry32). */
export class Random {
  constructor(private state: number) {}

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer between the bounds, inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('the list to pick from is empty');
    return from[this.between(0, from.length - 1)] as T;
  }

  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((value) => ({ value, at: this.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ value }) => value);
  }

  /** Returns a generator for another actor, so that the choices of actors are independent. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}

/**
 * Yields an endless sequence in which each kind occurs once before any is repeated.
 * @param longMs duration of a long fault, which exceeds the retry window
 */
export function* plan(random: Random, kinds: readonly FaultKind[], longMs: number): Generator<Step, never> {
  for (;;) {
    const deck = random.shuffled(kinds);
    for (let kind = deck.pop(); kind; kind = deck.pop()) {
      const faults = [fault(kind, random)];
      const other = deck.find(({ target }) => target !== kind?.target);
      if (other && random.chance(1 / 5)) {
        deck.splice(deck.indexOf(other), 1);
        faults.push(fault(other, random));
      }
      yield {
        faults,
        durationMs: random.chance(1 / 8) ? longMs : random.between(300, 6_000),
        pauseMs: random.chance(1 / 4) ? random.between(12_000, 15_000) : random.between(1_000, 4_000),
      };
    }
  }
}

function fault(kind: FaultKind, random: Random): Fault {
  const { target } = kind;
  const app = isApp(target) ? target : random.pick(target === 'nats' ? APPS : APPS.slice(0, 2));
  const replica: ReplicaName = `${app} ${random.pick([1, 2] as const)}`;
  return { kind, replica: random.chance(singleReplicaProbability(kind)) ? replica : null };
}

function singleReplicaProbability({ target, effect }: FaultKind): number {
  if (isApp(target)) return effect === 'restarted' ? 1 : 4 / 5;
  return effect === 'cut off' || effect === 'half-open' ? 1 / 2 : 0;
}

export function isApp(target: App | Server): target is App {
  return (APPS as readonly string[]).includes(target);
}

export const USAGE = `npm run soak -- [--minutes N] [--seed N] [--faults NAME,…] [--json]

Uses two replicas of each app for N minutes (default 15) while they and their servers are killed, stopped and cut off at
random, and checks every answer against a model. Ends with a table. The exit code is 1 if a guarantee was violated.

  --seed N        repeats the faults and every actor's choices
  --faults NAME,… only these faults: ${FAULT_KINDS.map(faultName).join(', ')}
  --json          prints the report as JSON
  --help          prints this help
`;

export interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly kinds: readonly FaultKind[];
  readonly json: boolean;
  readonly help: boolean;
}

/** @throws UsageError */
export function readOptions(args: readonly string[]): Options {
  const { minutes, seed, faults, json, help } = parseOptions(
    { minutes: '15', seed: String(randomInt(2 ** 31)), faults: '', json: false },
    [...args],
  );
  if (!(Number(minutes) > 0)) throw new UsageError('--minutes must be a number above 0');
  if (!Number.isInteger(Number(seed))) throw new UsageError('--seed must be a whole number');
  const kinds = faults === '' ? FAULT_KINDS : faults.split(',').map(faultKindOf);
  return { minutes: Number(minutes), seed: Number(seed), kinds, json, help };
}

function faultKindOf(name: string): FaultKind {
  const kind = FAULT_KINDS.find((candidate) => faultName(candidate) === name.trim());
  if (!kind) throw new UsageError(`--faults: there is no fault named '${name.trim()}'`);
  return kind;
}
