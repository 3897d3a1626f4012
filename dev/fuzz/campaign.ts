import { setTimeout as sleep } from 'node:timers/promises';
import type { Isolated } from '#testing/isolate.js';
import { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import { type Found, Findings, type Lane, mix, playLane } from './lane.js';
import { KnownSecrets } from './leaks.js';
import { judgeLine, judgeMemory } from './process-oracle.js';
import type { OpenTarget, Target } from './target.js';
import { type MemoryOfApps, startWorld, type World } from './world.js';

/** How long it goes on: minutes, or so many requests to each target. */
type Length = { readonly minutes: number } | { readonly requests: number };

export interface Plan {
  readonly seed: number;
  readonly length: Length;
  readonly targets: readonly OpenTarget[];
}

export interface Result {
  readonly seed: number;
  readonly requests: number;
  readonly seconds: number;
  /** Endpoint or subject, and how often each status came. */
  readonly outcomes: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly findings: readonly Found[];
  /** Null when a process was gone before it could be asked. */
  readonly memory: Span | null;
}

interface Span {
  readonly before: MemoryOfApps;
  readonly after: MemoryOfApps;
}

export interface Progress {
  readonly requests: number;
  readonly findings: number;
  /** Milliseconds since the beginning, and until the end where that is known. */
  readonly elapsed: number;
  readonly left: number | undefined;
}

/** Compilers and caches fill before memory is measured: so many runs per lane, and no longer than this. */
const WARM_UP = { runs: 120, milliseconds: 30_000 };
/** Recipes that a finding in a log is reported with. */
const RECENT = 12;
const SETTLED_TRIES = 12;
const SETTLED_PAUSE_MS = 3_000;

/** Sends random requests to a product of its own, and checks every answer, log line and process against the rules. */
export class Campaign {
  private readonly outcomes = new Map<string, Map<string, number>>();
  private readonly findings = new Findings();
  private readonly recent: unknown[] = [];
  private readonly started = performance.now();
  private requests = 0;
  private end = Infinity;
  private isGone = false;

  constructor(private readonly plan: Plan) {}

  get progress(): Progress {
    const now = performance.now();
    return {
      requests: this.requests,
      findings: this.findings.all.length,
      elapsed: now - this.started,
      left: this.end === Infinity ? undefined : Math.max(0, this.end - now),
    };
  }

  /** Ends it soon, as if its time were up. */
  stop(): void {
    this.end = 0;
  }

  /** @param services its own, which are closed at the end */
  async run(services: Isolated): Promise<Result> {
    const secrets = new KnownSecrets();
    const world = await startWorld(services, secrets, {
      line: (app, line) => this.recordLate(judgeLine(app, line, secrets)),
      ended: (app, how) => {
        this.isGone = true;
        this.recordLate([{ rule: 'process ended', where: app, detail: how }]);
        this.stop();
      },
    });
    const targets: Target[] = [];
    try {
      for (const open of this.plan.targets) targets.push(await open(world, this.tally));
      const memory = await this.play(await lanesOf(targets, world), world);
      return {
        seed: this.plan.seed,
        requests: this.requests,
        seconds: (performance.now() - this.started) / 1000,
        outcomes: this.outcomes,
        findings: this.findings.all,
        memory,
      };
    } finally {
      await Promise.all(targets.map((target) => target.close()));
      await world.close();
    }
  }

  /** Warms up before a timed run, then measures memory before and after the requests. */
  private async play(lanes: readonly Lane[], world: World): Promise<Span | null> {
    const { length } = this.plan;
    const warm = performance.now() + WARM_UP.milliseconds;
    if ('minutes' in length)
      await this.phase(1, lanes, { runs: () => WARM_UP.runs, isOver: () => performance.now() > warm });
    const before = this.isOver ? null : await world.memory();
    if ('minutes' in length && !this.isOver) this.end = performance.now() + length.minutes * 60_000;
    const runs = (target: Target) =>
      'minutes' in length ? Infinity : Math.ceil(length.requests / target.lanes);
    await this.phase(2, lanes, { runs, isOver: () => false });
    return before && !this.isGone ? { before, after: await this.settled(world, before) } : null;
  }

  private async phase(
    phase: number,
    lanes: readonly Lane[],
    { runs, isOver }: { runs: (target: Target) => number; isOver: () => boolean },
  ): Promise<void> {
    const playing = lanes.map((lane, n) => {
      const seed = mix(this.plan.seed, phase, n);
      const run = {
        seed,
        runs: runs(lane.target),
        isOver: () => this.isOver || isOver(),
        begin: this.begin,
      };
      return playLane(lane, run, this.findings);
    });
    await Promise.all(playing);
  }

  private readonly begin = (recipe: unknown): void => {
    this.requests += 1;
    this.recent.push(recipe);
    if (this.recent.length > RECENT) this.recent.shift();
  };

  private readonly tally = (where: string, outcome: string): void => {
    const counts = this.outcomes.get(where) ?? new Map<string, number>();
    this.outcomes.set(where, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
  };

  /** What a process does by itself follows from what was sent to it shortly before. */
  private recordLate(findings: readonly Finding[]): void {
    this.findings.record(findings, [...this.recent]);
  }

  /** The memory once nothing is asked any more: what the last requests left may take a moment to go. */
  private async settled(world: World, before: MemoryOfApps): Promise<MemoryOfApps> {
    for (let tries = 1; ; tries += 1) {
      const after = await world.memory();
      const findings = judgeMemory(before, after);
      if (findings.length > 0 && tries < SETTLED_TRIES) {
        await sleep(SETTLED_PAUSE_MS);
        continue;
      }
      this.findings.record(findings, null);
      return after;
    }
  }

  private get isOver(): boolean {
    return performance.now() >= this.end;
  }
}

async function lanesOf(targets: readonly Target[], world: World): Promise<Lane[]> {
  const lanes: Lane[] = [];
  for (const target of targets)
    for (let n = 0; n < target.lanes; n += 1)
      lanes.push({ target, actor: await Actor.create(world, `${target.name}${n}`) });
  return lanes;
}
