import fc from 'fast-check';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import type { Target } from './target.js';

/** A finding, how often it came, and what was sent. */
export interface Found extends Finding {
  times: number;
  /** The smallest recipe that did it; for what processes do by themselves, what was sent shortly before. */
  readonly recipe: unknown;
}

/** What was found, each only once. */
export class Findings {
  private readonly found = new Map<string, Found>();

  get all(): readonly Found[] {
    return [...this.found.values()];
  }

  /** Those that are new; the others are counted. */
  unknown(findings: readonly Finding[]): Finding[] {
    return findings.filter((finding) => {
      const known = this.found.get(keyOf(finding));
      if (known) known.times += 1;
      return !known;
    });
  }

  record(findings: readonly Finding[], recipe: unknown): void {
    for (const finding of this.unknown(findings))
      this.found.set(keyOf(finding), { ...finding, times: 1, recipe });
  }
}

function keyOf({ rule, where }: Finding): string {
  return `${rule}\n${where}`;
}

/** Requests to a target, one after the other, with credentials that no other lane uses. */
export interface Lane {
  readonly target: Target;
  readonly actor: Actor;
}

export interface LaneRun {
  readonly seed: number;
  /** The number of recipes to run. */
  readonly runs: number;
  readonly isOver: () => boolean;
  /** Is told of each recipe before it is played. */
  readonly begin: (recipe: unknown) => void;
}

/** So many recipes belong to one seed of fast-check: after a finding the rest of them is left out. */
const BATCH = 25;
/** Milliseconds in which a batch ends, and with it the search for a smaller recipe. */
const BATCH_MS = 60_000;

/** Plays recipes, the same ones for the same seed, and records what is found. */
export async function playLane({ target, actor }: Lane, run: LaneRun, findings: Findings): Promise<void> {
  const { seed, runs, isOver, begin } = run;
  let left = runs;
  const isDone = () => left <= 0 || isOver();
  for (let batch = 0; !isDone(); batch += 1) {
    let last: Finding[] = [];
    const property = fc.asyncProperty(target.recipe, async (recipe) => {
      if (isOver()) return true;
      // What follows a finding looks for a smaller recipe.
      if (last.length === 0) left -= 1;
      begin(recipe);
      const found = await target.run(recipe, actor).catch((error: unknown): Finding[] => {
        // The product refused a preparatory request, or its process ended, which the process watcher reports.
        const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
        return isOver() ? [] : [{ rule: 'request could not be made', where: target.name, detail }];
      });
      const fresh = findings.unknown(found);
      if (fresh.length > 0) last = fresh;
      return fresh.length === 0;
    });
    const details = await fc.check(property, {
      seed: mix(seed, batch),
      numRuns: Math.min(BATCH, left),
      interruptAfterTimeLimit: BATCH_MS,
    });
    const [smallest] = details.counterexample ?? [];
    findings.record(last, smallest);
  }
}

/** A seed of 32 bits from others. */
export function mix(...seeds: readonly number[]): number {
  return (
    seeds.reduce((hash, seed) => Math.imul(hash ^ seed, 0x9e_37_79_b1) ^ (hash >>> 15), 0x51_7c_c1_b7) | 0
  );
}
