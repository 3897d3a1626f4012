export const APPS = ['authorize', 'token', 'resource'] as const;
export type App = (typeof APPS)[number];
const SERVERS = ['redis', 'postgres', 'nats'] as const;
export type Server = (typeof SERVERS)[number];
/** A copy of an app. */
export type Copy = `${App} ${1 | 2}`;

/**
 * - killed: SIGKILL; started again at the end, with the data it had;
 * - stopped: SIGSTOP; SIGCONT at the end;
 * - restarted: SIGTERM after the balancer has left it; started again at the end;
 * - cut off: connections are reset and new ones refused;
 * - half-open: connections stay and carry nothing, new ones as well; at the end only new ones work;
 * - emptied: killed; started again at the end without its data.
 */
type What = 'killed' | 'stopped' | 'restarted' | 'cut off' | 'half-open' | 'emptied';

export interface Kind {
  readonly target: App | Server;
  readonly what: What;
  /** For how long after its end, in milliseconds, requests may still fail because of it. */
  readonly settlesMs: number;
}

/** Processes that were away find out within a second, and open new connections. */
const SOON_MS = 5_000;
/** Redis is silent for 3 s, NATS for 4 s, until a connection is given up. */
const SILENCE_MS = 10_000;
/** A query gets 6 s, and the pool may have a silent connection for the next one too, for 10 s. */
const POOL_MS = 20_000;

export const KINDS: readonly Kind[] = [
  ...APPS.flatMap((target) => [
    { target, what: 'killed', settlesMs: SOON_MS } as const,
    { target, what: 'stopped', settlesMs: SOON_MS } as const,
    { target, what: 'restarted', settlesMs: SOON_MS } as const,
  ]),
  ...SERVERS.flatMap((target) => [
    { target, what: 'killed', settlesMs: SOON_MS } as const,
    { target, what: 'stopped', settlesMs: SILENCE_MS } as const,
    { target, what: 'cut off', settlesMs: SOON_MS } as const,
    { target, what: 'half-open', settlesMs: target === 'postgres' ? POOL_MS : SILENCE_MS } as const,
  ]),
  { target: 'redis', what: 'emptied', settlesMs: SOON_MS },
];

export function nameOf({ target, what }: Kind): string {
  return `${target} ${what}`;
}

export interface Fault {
  readonly kind: Kind;
  /** The copy that it befalls, or the only one that a server is out of reach of; null: all of them, of that app. */
  readonly copy: Copy | null;
}

/** Faults at the same time, and the pause after them. */
export interface Step {
  readonly faults: readonly Fault[];
  readonly lastsMs: number;
  readonly restMs: number;
}

/** Random numbers that a seed repeats (mulberry32). */
export class Random {
  constructor(private state: number) {}

  /** From 0 up to 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws when there is nothing to choose from */
  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('there is nothing to choose from');
    return from[this.between(0, from.length - 1)] as T;
  }

  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((value) => ({ value, at: this.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ value }) => value);
  }

  /** Another generator: what one actor draws changes nothing for the others. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}

/**
 * Faults without an end. Every kind comes once before any comes again; of five steps one is of two faults at once, of eight
 * one outlasts the retry window, and after one of four there is time for everything to settle.
 *
 * @param longMs how long a fault lasts that outlasts the retry window
 */
export function* plan(random: Random, kinds: readonly Kind[], longMs: number): Generator<Step, never> {
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
        lastsMs: random.chance(1 / 8) ? longMs : random.between(300, 6_000),
        restMs: random.chance(1 / 4) ? random.between(12_000, 15_000) : random.between(1_000, 4_000),
      };
    }
  }
}

function fault(kind: Kind, random: Random): Fault {
  const { target } = kind;
  const app = isApp(target) ? target : random.pick(target === 'nats' ? APPS : APPS.slice(0, 2));
  const copy: Copy = `${app} ${random.pick([1, 2] as const)}`;
  return { kind, copy: random.chance(shareOfOne(kind)) ? copy : null };
}

/** How often a fault befalls one copy alone. */
function shareOfOne({ target, what }: Kind): number {
  if (isApp(target)) return what === 'restarted' ? 1 : 4 / 5;
  return what === 'cut off' || what === 'half-open' ? 1 / 2 : 0;
}

export function isApp(target: App | Server): target is App {
  return (APPS as readonly string[]).includes(target);
}
