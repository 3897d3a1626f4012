import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { createTwoFilesPatch } from 'diff';
import { ClientTransferStore } from '../../client-transfer.store.js';
import { hasKeys } from '#oauth/oauth-client.js';
import { AdministrationError, refused, refuseInvalid } from '#platform/validation/administration.error.js';
import { AdministrationOptions } from '#operations/administration.options.js';
import { describeProblem } from '#error-guide/problems/describe-problem.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import { Announcer } from '#operations/announcer.js';
import { consoleChangeProblems, isConsoleClient } from '../console-client.js';
import type { Actor, Change } from '#operations/audit-trail.js';
import { summaryOf } from './client-file.js';
import { importEvents } from './import-events.js';
import { type ImportPlan, type PlannedChange, planImport } from './import-plan.js';
import { readFile } from './read-file.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    import_running: null;
  }
}

const WAIT_MS = 60_000;
const POLL_MS = 100;

export interface ImportedClient {
  readonly client_id: string;
  readonly name: string;
  /** Fields that the file changes; null for a new client. */
  readonly fields: readonly string[] | null;
  /** True for a new client that must authenticate but has no secret and no keys. */
  readonly needsSecret: boolean;
}

export interface ImportResult {
  readonly changes: readonly ImportedClient[];
  readonly unchanged: number;
  readonly others: readonly { readonly clientId: string; readonly name: string }[];
}

@Injectable()
export class ClientImportService {
  constructor(
    private readonly transfers: ClientTransferStore,
    private readonly announcer: Announcer,
    private readonly options: AdministrationOptions,
  ) {}

  /**
   * Imports all clients or none. Safe to repeat.
   * @throws AdministrationError that lists every problem by line; of the kind `unconfirmed` if operators could not log
   * in to the console without `confirmConsole`; or of the kind `unavailable` during another import
   */
  async import(actor: Actor, text: string, confirmConsole = false): Promise<Change<ImportResult>> {
    const plan = await this.plan(text, (planned) => {
      const unconfirmed = confirmConsole ? [] : this.lockOuts(planned);
      if (unconfirmed.length > 0) throw new AdministrationError('unconfirmed', unconfirmed);
      return planned.changes.map(({ after }) => after);
    });
    const { changes } = plan;
    const ids = changes.map(({ after }) => after.clientId);
    return {
      result: resultOf(plan),
      announced:
        changes.length === 0
          ? Promise.resolve([])
          : this.announcer.clientsChanged(actor, ids, ...changes.flatMap(importEvents)),
    };
  }

  /**
   * @param source file name for the diff
   * @returns a `diff`, which is empty if nothing would change, and `warnings` that the import requires to be confirmed
   */
  async preview(
    text: string,
    source: string,
  ): Promise<ImportResult & { readonly diff: string; readonly warnings: readonly string[] }> {
    const plan = await this.plan(text, () => []);
    const warnings = this.lockOuts(plan).map((lockOut) => describeProblem(lockOut, (field) => field));
    return { ...resultOf(plan), diff: differences(plan, source), warnings };
  }

  private lockOuts({ changes }: ImportPlan): Problem[] {
    const { consoleUrl } = this.options.settings;
    return changes.flatMap(({ before, after }) => {
      if (!before) return [];
      const { clientId } = after;
      const isLost = after.disabled && !before.disabled && isConsoleClient(before.redirectUris, consoleUrl);
      return [
        ...(isLost ? [problem('confirmConsole', [], { clientId, lost: 'enabled' })] : []),
        ...consoleChangeProblems(clientId, before, after, consoleUrl),
      ];
    });
  }

  /** @param decide returns the clients to write; an exception prevents every change */
  private async plan(
    text: string,
    decide: (plan: ImportPlan) => ReturnType<Parameters<ClientTransferStore['change']>[1]>,
  ): Promise<ImportPlan> {
    const catalogue = this.options.scopes().value;
    const { entries, problems: unreadable, located } = await readFile(text);
    // Rejects a file without any readable client before connecting to the database.
    if (entries.size === 0) refuseInvalid(located(unreadable));
    const named = {
      clientIds: [...entries.values()].map(({ clientId }) => clientId),
      secretIds: [...entries.values()].flatMap(({ secrets }) => secrets?.map(({ id }) => id) ?? []),
    };
    let plan: ImportPlan | undefined;
    for (const deadline = Date.now() + WAIT_MS; ; await sleep(POLL_MS)) {
      const decided = await this.transfers.change(named, (known) => {
        const { plan: planned, problems } = planImport(entries, known, catalogue, new Date());
        refuseInvalid(located([...unreadable, ...problems]));
        plan = planned;
        return decide(plan);
      });
      if (decided && plan) return plan;
      if (Date.now() > deadline) throw refused('unavailable', problem('import_running', []));
    }
  }
}

function resultOf({ changes, unchanged, others }: ImportPlan): ImportResult {
  return { changes: changes.map(imported), unchanged, others };
}

function imported({ before, after, fields }: PlannedChange): ImportedClient {
  const authenticates = after.type === 'confidential' && !hasKeys(after);
  return {
    client_id: after.clientId,
    name: after.name,
    fields: before && fields,
    needsSecret: before === null && authenticates && after.secrets.length === 0,
  };
}

function differences({ changes }: ImportPlan, source: string): string {
  if (changes.length === 0) return '';
  const before = summaryOf(changes.flatMap((change) => change.before ?? []));
  const after = summaryOf(changes.map((change) => change.after));
  const patch = createTwoFilesPatch('registered', source, before, after, '', '', { context: 3 });
  // The first line of the patch is only a separator.
  return patch.slice(patch.indexOf('---')).trimEnd();
}
