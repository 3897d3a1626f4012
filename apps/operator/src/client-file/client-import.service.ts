import { setTimeout as sleep } from 'node:timers/promises';
import type { ScopeCatalogue } from '#oauth/scope.js';
import { InputError } from '../command-line/input.js';
import { withStores } from '../connections/database.connection.js';
import type { DatabaseSettings } from '../settings/settings.js';
import { type ImportPlan, planImport } from './import-plan.js';
import { readClientFile } from './read-client-file.js';

const WAIT_MS = 60_000;
const POLL_MS = 100;

export interface ImportOptions {
  readonly catalogue: ScopeCatalogue;
  readonly dryRun: boolean;
}

/** Imports run one after the other. @throws InputError that lists every problem by line; nothing was written */
export async function importClients(
  settings: DatabaseSettings,
  text: string,
  { catalogue, dryRun }: ImportOptions,
): Promise<ImportPlan> {
  const problems: string[] = [];
  const clients = (await readClientFile(text, problems)).toSorted((one, two) =>
    one.clientId < two.clientId ? -1 : 1,
  );
  // A file without any readable client is refused without connecting to the database.
  if (clients.length === 0 && problems.length > 0) throw new InputError(problems.toSorted(byLine));
  const named = {
    clientIds: clients.map(({ clientId }) => clientId),
    secretIds: clients.flatMap(({ secrets }) => secrets?.map(({ id }) => id) ?? []),
  };
  return withStores(settings, async ({ transfers }) => {
    let plan: ImportPlan | undefined;
    for (const deadline = Date.now() + WAIT_MS; ; await sleep(POLL_MS)) {
      const decided = await transfers.change(named, (known) => {
        plan = planImport(clients, known, catalogue, new Date());
        if (problems.length > 0) throw new InputError(problems.toSorted(byLine));
        return dryRun ? [] : plan.changes.map(({ after }) => after);
      });
      if (decided && plan) return plan;
      if (Date.now() > deadline) throw new Error('another import is still running: try again later');
    }
  });
}

const byLine = (one: string, two: string): number => lineNumber(one) - lineNumber(two);

const lineNumber = (problem: string): number => Number(/^line (\d+):/.exec(problem)?.[1]);
