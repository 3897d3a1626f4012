import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { createTwoFilesPatch } from 'diff';
import { ClientTransferStore } from '#database/client/client-transfer.store.js';
import { hasKeys } from '#oauth/client.js';
import { type Problem, refusal, refuseInvalid } from '../administration.error.js';
import { AdministrationOptions } from '../administration.options.js';
import { Announcer } from '../announcer.js';
import type { Actor, Change } from '../operation.js';
import { summaryOf } from './client-file.js';
import { importEvents } from './import-events.js';
import { type ImportPlan, type PlannedChange, planImport } from './import-plan.js';
import { readClientFile } from './read-client-file.js';

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
   * @throws AdministrationError that lists every problem by line, or of the kind `unavailable` during another import
   */
  async import(actor: Actor, text: string): Promise<Change<ImportResult>> {
    const plan = await this.plan(text, false);
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

  /** @param source file name for the diff @returns a `diff`, which is empty if nothing would change */
  async preview(text: string, source: string): Promise<ImportResult & { readonly diff: string }> {
    const plan = await this.plan(text, true);
    return { ...resultOf(plan), diff: differences(plan, source) };
  }

  private async plan(text: string, dryRun: boolean): Promise<ImportPlan> {
    const catalogue = this.options.scopes().value;
    const problems: Problem[] = [];
    const clients = (await readClientFile(text, problems)).toSorted((a, b) =>
      a.clientId < b.clientId ? -1 : 1,
    );
    // Rejects a file without any readable client before connecting to the database.
    if (clients.length === 0) refuseInvalid(byLine(problems));
    const named = {
      clientIds: clients.map(({ clientId }) => clientId),
      secretIds: clients.flatMap(({ secrets }) => secrets?.map(({ id }) => id) ?? []),
    };
    let plan: ImportPlan | undefined;
    for (const deadline = Date.now() + WAIT_MS; ; await sleep(POLL_MS)) {
      const decided = await this.transfers.change(named, (known) => {
        plan = planImport(clients, known, catalogue, new Date());
        refuseInvalid(byLine(problems));
        return dryRun ? [] : plan.changes.map(({ after }) => after);
      });
      if (decided && plan) return plan;
      if (Date.now() > deadline)
        throw refusal('unavailable', 'import_running', 'another import is still running: try again later');
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

const byLine = (problems: readonly Problem[]): Problem[] =>
  problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
