import type { Readable } from 'node:stream';
import { changesBetween } from '#audit/changes.js';
import { refusedRow } from '#platform/postgres/postgres-errors.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import type { UpsertResult, ImportedUser, ExternalUserStore, UserChange } from '../../external-user.store.js';
import { readImportedUser } from '../../user-record.js';
import { type Format, readRecords } from './user-file.js';

declare module '#platform/validation/problem.js' {
  interface Problems {
    user_deleted_later: null;
    user_enabled_here: null;
  }
}

export interface ImportOptions {
  readonly format: Format;
  readonly issuer: string | null;
  readonly replacePasswords: boolean;
  readonly dryRun: boolean;
}

export interface BadLine {
  readonly line: number;
  readonly problems: readonly Problem[];
}

export interface ImportCounts {
  created: number;
  updated: number;
  unchanged: number;
  passwordsKept: number;
  failed: number;
  /** Number of updated users by changed field. */
  readonly changed: Record<string, number>;
}

interface Pending {
  readonly line: number;
  readonly user: ImportedUser;
}

/** Users per statement; larger batches are not faster. */
const BATCH = 1000;
const ATTEMPTS = 5;

/** Imports a file of users in batches, in constant memory. */
export class UserImport {
  readonly counts: ImportCounts = {
    created: 0,
    updated: 0,
    unchanged: 0,
    passwordsKept: 0,
    failed: 0,
    changed: {},
  };
  private batch: Pending[] = [];
  private keys = new Set<string>();

  constructor(
    private readonly users: ExternalUserStore,
    private readonly options: ImportOptions,
    private readonly report: (bad: BadLine) => void,
  ) {}

  /** All lines up to this line have been imported or reported. */
  lastLine = 0;

  async run(input: Readable): Promise<void> {
    // The next batch is read while the current batch is stored.
    let storing: Promise<void> = Promise.resolve();
    const flush = async (): Promise<void> => {
      await storing;
      const batch = this.batch;
      [this.batch, this.keys] = [[], new Set()];
      storing = this.store(batch);
      // The next await throws the error.
      storing.catch(() => undefined);
    };
    const now = Date.now();
    for await (const record of readRecords(input, this.options.format)) {
      const { line } = record;
      if ('problems' in record) {
        this.refuse(line, record.problems, record.lines);
        continue;
      }
      const read = readImportedUser(record.record, this.options.issuer, now);
      if ('problems' in read) {
        this.refuse(line, read.problems);
        continue;
      }
      // A repeated user starts a new batch, so that changes apply in the order of the file.
      const key = keyOf(read.user);
      if (this.batch.length === BATCH || this.keys.has(key)) await flush();
      this.keys.add(key);
      this.batch.push({ line, user: { ...read.user, replacePassword: this.options.replacePasswords } });
    }
    await flush();
    await storing;
  }

  private async store(batch: readonly Pending[]): Promise<void> {
    await this.storeAll(batch);
    this.lastLine = batch.at(-1)?.line ?? this.lastLine;
  }

  /** Bisects a batch to isolate a user that violates a constraint. Retries users that were changed concurrently. */
  private async storeAll(batch: readonly Pending[], attempt = 1): Promise<void> {
    const [first] = batch;
    if (first === undefined) return;
    let results: (UpsertResult | null)[];
    try {
      results = await this.users.upsertMany(
        batch.map(({ user }) => user),
        this.options.dryRun,
      );
    } catch (error) {
      const constraint = refusedRow(error);
      if (constraint === null) throw error;
      if (batch.length === 1) return this.refuse(first.line, [problem('row_refused', [], { constraint })]);
      const half = batch.length >> 1;
      await this.storeAll(batch.slice(0, half));
      return this.storeAll(batch.slice(half));
    }
    const contended = batch.filter((pending, at) => !this.count(pending, results[at] ?? null));
    if (contended.length === 0) return;
    if (attempt === ATTEMPTS)
      throw new Error(`line ${contended[0]?.line}: the user was changed concurrently again and again`);
    await this.storeAll(contended, attempt + 1);
  }

  private count({ line, user }: Pending, result: UpsertResult | null): boolean {
    if (result === null) return false;
    if (result.outcome === 'deleted') this.refuse(line, [problem('user_deleted_later', [])]);
    else if (user.disabled && result.outcome !== 'created' && !result.wasDisabled)
      // An import cannot end the sessions and grants of an existing user.
      this.refuse(line, [problem('user_enabled_here', [])]);
    else {
      this.counts[
        result.outcome === 'created' || result.outcome === 'updated' ? result.outcome : 'unchanged'
      ] += 1;
      for (const field of changedFields(result.change))
        this.counts.changed[field] = (this.counts.changed[field] ?? 0) + 1;
      if (result.keptPassword) this.counts.passwordsKept += 1;
    }
    return true;
  }

  private refuse(line: number, problems: readonly Problem[], lines = 1): void {
    this.counts.failed += lines;
    this.report({ line, problems });
  }
}

function changedFields(change: UserChange | null): string[] {
  if (!change) return [];
  const { changes = {} } = changesBetween(change.before, change.after);
  return [...Object.keys(changes), ...(change.password ? ['password'] : [])];
}

/** Returns the key of a user. A statement must not contain the same key twice. */
function keyOf({ identity, profile }: ImportedUser): string {
  return identity === null
    ? profile.email.toLowerCase()
    : JSON.stringify([identity.issuer, identity.externalId]);
}
