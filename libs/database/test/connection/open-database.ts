import { setTimeout as sleep } from 'node:timers/promises';
import { type DataSource, type Logger, QueryFailedError } from 'typeorm';
import { databaseDataSource, requestLimits } from '#database/connection/data-source.js';
import { isolate } from '#test/support/isolate.js';
import { PATIENT_MS } from '#test/support/app-settings.js';

export interface OpenDatabase {
  databaseUrl: string;
  dataSource: DataSource;
  statementsOf(work: () => Promise<unknown>): Promise<string[]>;
  statementsWithValuesOf(work: () => Promise<unknown>): Promise<{ text: string; values: unknown[] }[]>;
  close(): Promise<void>;
}

export async function openDatabase(): Promise<OpenDatabase> {
  const isolated = await isolate();
  const dataSource = await databaseDataSource(isolated.databaseUrl, requestLimits(PATIENT_MS)).initialize();
  async function statementsWithValuesOf(work: () => Promise<unknown>) {
    const quiet = dataSource.logger;
    const statements: { text: string; values: unknown[] }[] = [];
    const ignore = () => undefined;
    dataSource.logger = {
      logQuery: (text, values = []) => void statements.push({ text, values: values as unknown[] }),
      logQueryError: ignore,
      logQuerySlow: ignore,
      logSchemaBuild: ignore,
      logMigration: ignore,
      log: ignore,
    } satisfies Logger;
    await work().finally(() => (dataSource.logger = quiet));
    return statements;
  }
  return {
    databaseUrl: isolated.databaseUrl,
    dataSource,
    statementsWithValuesOf,
    statementsOf: async (work) => (await statementsWithValuesOf(work)).map(({ text }) => text),
    async close() {
      await dataSource.destroy();
      await isolated.close();
    },
  };
}

/** Resolves when `count` statements wait for a lock. @throws after a minute */
export async function blocked({ dataSource }: OpenDatabase, count = 1): Promise<void> {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(5))
    if ((await dataSource.query<unknown[]>(waiting)).length >= count) return;
  throw new Error(`no ${count} statements waited for a lock within a minute`);
}

export async function refusalOf(work: Promise<unknown>): Promise<Error & { hint?: string; code?: string }> {
  const error = await work.then(
    () => new Error('it was not rejected'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(QueryFailedError);
  return (error as QueryFailedError<Error & { hint?: string; code?: string }>).driverError;
}
