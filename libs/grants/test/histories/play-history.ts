import { Actor } from './actor.js';
import { GrantRequests } from './grant-requests.js';
import type { History } from './history.js';
import type { HistoryEnvironment } from './history-fixture.js';

/** Plays a history with real processes and stores. Rejects if a response breaks an invariant. */
export async function playHistory(
  environment: HistoryEnvironment,
  { grants, rounds }: History,
): Promise<void> {
  let now = Date.now();
  const actors = await Promise.all(
    Array.from(
      { length: grants },
      async (_, number) =>
        new Actor(await GrantRequests.allowed(environment, number, now), environment.retryWindow),
    ),
  );
  for (const { happenings, pause } of rounds) {
    const at = now;
    const eventsOf = (actor: number) =>
      happenings.filter(({ grant }) => grant % grants === actor).map(({ event }) => event);
    actors.forEach((actor, number) => actor.begin(eventsOf(number)));
    const outcomes = await Promise.allSettled(
      happenings.map(async ({ grant, process, event }) => actors[grant % grants]?.act(event, process, at)),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    for (const actor of actors) actor.rest();
    now += pause * 1000;
  }
}
