import { type DataSource, type Logger, QueryFailedError } from 'typeorm';
import { databaseDataSource, requestLimits } from '#database/data-source.js';
import { isolate } from '#test/support/isolate.js';
import { PATIENT_MS } from '#test/support/app-settings.js';

export interface OpenDatabase {
  databaseUrl: string;
  dataSource: DataSource;
  sql(text: string): Promise<unknown[]>;
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
    sql: (text) => dataSource.query(text),
    statementsWithValuesOf,
    statementsOf: async (work) => (await statementsWithValuesOf(work)).map(({ text }) => text),
    async close() {
      await dataSource.destroy();
      await isolated.close();
    },
  };
}

export async function refusalOf(work: Promise<unknown>): Promise<Error & { code?: string }> {
  const error = await work.then(
    () => new Error('it was not rejected'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(QueryFailedError);
  return (error as QueryFailedError<Error & { code?: string }>).driverError;
}
