import { setTimeout as sleep } from 'node:timers/promises';
import type { Isolated } from '#test/support/isolate.js';
import { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import { type RecordedFinding, Findings, type Lane, mixSeeds, runLane } from './lane.js';
import { KnownSecrets } from './leaks.js';
import { checkLogLine, checkMemory } from './process-oracle.js';
import type { OpenTarget, Target } from './target.js';
import { type MemoryOfApps, startTestEnvironment, type TestEnvironment } from './test-environment.js';

/** Length of a campaign. `requests` is the number per target. */
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
  /** Numbers of responses by endpoint or subject, then by status. */
  readonly outcomes: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly findings: readonly RecordedFinding[];
  /** Null if the campaign was stopped during the warm-up, or if a process ended before the measurement. */
  readonly memory: MemoryComparison | null;
}

interface MemoryComparison {
  readonly before: MemoryOfApps;
  readonly after: MemoryOfApps;
}

export interface Progress {
  readonly requests: number;
  readonly findings: number;
  /** Milliseconds, like `left`, which is undefined during the warm-up. */
  readonly elapsed: number;
  readonly left: number | undefined;
}

/** Length of the warm-up before the first measurement of memory, in which V8 compiles the code and caches fill. */
const WARM_UP = { runs: 120, milliseconds: 30_000 };
const MAX_RECENT = 12;
const MAX_MEMORY_CHECKS = 12;
const MEMORY_CHECK_PAUSE_MS = 3_000;

export class Campaign {
  private readonly outcomes = new Map<string, Map<string, number>>();
  private readonly findings = new Findings();
  private readonly recent: unknown[] = [];
  private readonly started = performance.now();
  private requests = 0;
  private end = Infinity;
  private processEnded = false;

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

  stop(): void {
    this.end = 0;
  }

  /** Runs the campaign, then closes the services. */
  async run(services: Isolated): Promise<Result> {
    const secrets = new KnownSecrets();
    const environment = await startTestEnvironment(services, secrets, {
      line: (app, line) => this.recordWithRecent(checkLogLine(app, line, secrets)),
      ended: (app, how) => {
        this.processEnded = true;
        this.recordWithRecent([{ rule: 'process ended', where: app, detail: how }]);
        this.stop();
      },
      logout: (problem) => {
        this.tally('logout tokens at applications', problem === null ? 'valid' : 'invalid');
        if (problem !== null)
          this.recordWithRecent([{ rule: 'a logout token is invalid', where: 'token', detail: problem }]);
      },
    });
    const targets: Target[] = [];
    try {
      for (const open of this.plan.targets) targets.push(await open(environment, this.tally));
      const memory = await this.runLanes(await lanesOf(targets, environment), environment);
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
      await environment.close();
    }
  }

  private async runLanes(
    lanes: readonly Lane[],
    environment: TestEnvironment,
  ): Promise<MemoryComparison | null> {
    const { length } = this.plan;
    const warm = performance.now() + WARM_UP.milliseconds;
    if ('minutes' in length)
      await this.phase(1, lanes, { runs: () => WARM_UP.runs, isOver: () => performance.now() > warm });
    const before = this.isOver ? null : await environment.memory();
    if ('minutes' in length && !this.isOver) this.end = performance.now() + length.minutes * 60_000;
    const runs = (target: Target) =>
      'minutes' in length ? Infinity : Math.ceil(length.requests / target.lanes);
    await this.phase(2, lanes, { runs, isOver: () => false });
    return before && !this.processEnded
      ? { before, after: await this.memoryAfter(environment, before) }
      : null;
  }

  private async phase(
    phase: number,
    lanes: readonly Lane[],
    { runs, isOver }: { runs: (target: Target) => number; isOver: () => boolean },
  ): Promise<void> {
    const playing = lanes.map((lane, n) => {
      const seed = mixSeeds(this.plan.seed, phase, n);
      const run = {
        seed,
        runs: runs(lane.target),
        isOver: () => this.isOver || isOver(),
        onRecipe: this.onRecipe,
      };
      return runLane(lane, run, this.findings);
    });
    await Promise.all(playing);
  }

  private readonly onRecipe = (recipe: unknown): void => {
    this.requests += 1;
    this.recent.push(recipe);
    if (this.recent.length > MAX_RECENT) this.recent.shift();
  };

  private readonly tally = (where: string, outcome: string): void => {
    const counts = this.outcomes.get(where) ?? new Map<string, number>();
    this.outcomes.set(where, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
  };

  /** Records findings about a process together with the recent recipes, any of which may be the cause. */
  private recordWithRecent(findings: readonly Finding[]): void {
    this.findings.record(findings, [...this.recent]);
  }

  /** Repeats the measurement while memory is above the limit, because memory may be freed late. */
  private async memoryAfter(environment: TestEnvironment, before: MemoryOfApps): Promise<MemoryOfApps> {
    for (let attempt = 1; ; attempt += 1) {
      const after = await environment.memory();
      const findings = checkMemory(before, after);
      if (findings.length > 0 && attempt < MAX_MEMORY_CHECKS) {
        await sleep(MEMORY_CHECK_PAUSE_MS);
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

async function lanesOf(targets: readonly Target[], environment: TestEnvironment): Promise<Lane[]> {
  const lanes: Lane[] = [];
  for (const target of targets)
    for (let n = 0; n < target.lanes; n += 1)
      lanes.push({ target, actor: await Actor.create(environment, `${target.name}${n}`) });
  return lanes;
}
