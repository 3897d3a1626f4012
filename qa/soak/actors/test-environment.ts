import { setTimeout as sleep } from 'node:timers/promises';
import type { Application } from '../application.js';
import { ViolationReported, type Authorization } from '../browser.js';
import type { Grant } from '../id-token.js';
import type { LogOuts } from '../log-outs.js';
import type { Model } from '../model.js';
import type { Random } from '../plan.js';
import { SoakEnded, type Attempt, type Requests } from '../requests.js';
import type { Timeline } from '../timeline.js';
import type { Violate } from '../violations.js';

/** Sleeps are split into slices of this length, so that actors notice the end of the soak. */
const MAX_SLEEP_MS = 500;

export interface TestEnvironment {
  readonly requests: Requests;
  readonly model: Model;
  readonly logOuts: LogOuts;
  readonly timeline: Timeline;
  readonly violate: Violate;
  readonly hasEnded: () => boolean;
  /** In milliseconds. */
  readonly retryWindow: number;
  /** Application that received each grant. */
  readonly owners: Map<Grant, GrantOwner>;
}

interface GrantOwner {
  readonly application: Application;
  readonly authorization: Authorization;
}

/** @param pause milliseconds between steps, varied at random from half to twice this number */
export async function runActor(
  environment: TestEnvironment,
  random: Random,
  pause: number,
  step: () => Promise<void>,
): Promise<void> {
  while (!environment.hasEnded()) {
    await runStep(environment, step);
    const until = environment.timeline.now() + random.between(pause / 2, pause * 2);
    while (environment.timeline.now() < until && !environment.hasEnded())
      await sleep(Math.min(until - environment.timeline.now(), MAX_SLEEP_MS));
  }
}

/** Reports an unexpected exception of a step as a violation. */
export async function runStep(
  { violate, timeline }: TestEnvironment,
  step: () => Promise<void>,
): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (error instanceof SoakEnded || error instanceof ViolationReported) return;
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    violate({ rule: 'no step fails unexpectedly', detail, since: timeline.now() });
  }
}

export function expectStatus(
  environment: TestEnvironment,
  attempt: Attempt,
  statuses: readonly number[],
): void {
  if (statuses.includes(attempt.status)) return;
  environment.violate({
    rule: 'a request gets an expected status',
    attempts: [attempt],
    since: attempt.sentAt,
  });
  throw new ViolationReported();
}

/** Returns true for an active token (RFC 7662 2.2). */
export function isActive({ status, text }: Attempt): boolean {
  return status === 200 && (JSON.parse(text) as { active: boolean }).active;
}
