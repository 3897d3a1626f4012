import fc from 'fast-check';
import type { Actor } from './actor.js';
import type { Finding } from './answer-oracle.js';
import type { Target } from './target.js';

export interface RecordedFinding extends Finding {
  times: number;
  /**
   * Smallest recipe that caused the finding; the most recent recipes if the cause is unknown, for example for a log
   * line; null for a finding about memory.
   */
  readonly recipe: unknown;
}

export class Findings {
  private readonly found = new Map<string, RecordedFinding>();

  get all(): readonly RecordedFinding[] {
    return [...this.found.values()];
  }

  onlyNew(findings: readonly Finding[]): Finding[] {
    return findings.filter((finding) => {
      const known = this.found.get(keyOf(finding));
      if (known) known.times += 1;
      return !known;
    });
  }

  record(findings: readonly Finding[], recipe: unknown): void {
    for (const finding of this.onlyNew(findings))
      this.found.set(keyOf(finding), { ...finding, times: 1, recipe });
  }
}

function keyOf({ rule, where }: Finding): string {
  return `${rule}\n${where}`;
}

/** Sequential requests to one target. Each lane has a separate actor. */
export interface Lane {
  readonly target: Target;
  readonly actor: Actor;
}

export interface LaneRun {
  readonly seed: number;
  readonly runs: number;
  readonly isOver: () => boolean;
  readonly onRecipe: (recipe: unknown) => void;
}

/** Recipes per fast-check run. After a finding, the remaining recipes of the run are skipped. */
const RECIPES_PER_BATCH = 25;
/** Time limit of a batch, including the shrinking of a recipe. */
const BATCH_TIMEOUT_MS = 60_000;

export async function runLane({ target, actor }: Lane, run: LaneRun, findings: Findings): Promise<void> {
  const { seed, runs, isOver, onRecipe } = run;
  let remaining = runs;
  const isDone = () => remaining <= 0 || isOver();
  for (let batch = 0; !isDone(); batch += 1) {
    let last: Finding[] = [];
    const property = fc.asyncProperty(target.recipe, async (recipe) => {
      if (isOver()) return true;
      // After a finding, fast-check runs smaller recipes, which are not counted.
      if (last.length === 0) remaining -= 1;
      onRecipe(recipe);
      const found = await target.run(recipe, actor).catch((error: unknown): Finding[] => {
        // The product rejected a preparatory request, or its process ended. The watcher reports an ended process.
        const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
        return isOver() ? [] : [{ rule: 'request could not be made', where: target.name, detail }];
      });
      const fresh = findings.onlyNew(found);
      if (fresh.length > 0) last = fresh;
      return fresh.length === 0;
    });
    const details = await fc.check(property, {
      seed: mixSeeds(seed, batch),
      numRuns: Math.min(RECIPES_PER_BATCH, remaining),
      interruptAfterTimeLimit: BATCH_TIMEOUT_MS,
    });
    const [smallest] = details.counterexample ?? [];
    findings.record(last, smallest);
  }
}

export function mixSeeds(...seeds: readonly number[]): number {
  return (
    seeds.reduce((hash, seed) => Math.imul(hash ^ seed, 0x9e_37_79_b1) ^ (hash >>> 15), 0x51_7c_c1_b7) | 0
  );
}
