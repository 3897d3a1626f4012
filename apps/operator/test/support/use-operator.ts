import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { isolate } from '#test/support/isolate.js';
import { type Outcome, runCommand } from './run-operator.js';
import { started } from '#test/support/started.js';

/** Services, settings and a command runner for one suite. */
export interface TestOperator {
  env: NodeJS.ProcessEnv;
  natsUrl: string;
  databaseUrl: string;
  /** Empty folder in place of `.local`. */
  localDir: string;
  run(args: readonly string[], env?: NodeJS.ProcessEnv, stdin?: string): Promise<Outcome>;
  rows<T>(sql: string, parameters?: unknown[]): Promise<T[]>;
  counts(): Promise<unknown>;
  close(): Promise<void>;
}

export function useOperator(): TestOperator {
  const operator = started() as TestOperator;
  beforeAll(async () => {
    Object.assign(operator, await startOperator());
  });
  afterAll(() => operator.close());
  return operator;
}

async function startOperator(): Promise<TestOperator> {
  const isolated = await isolate();
  const { databaseUrl, natsUrl } = isolated;
  const localDir = await mkdtemp(join(tmpdir(), 'operator-'));
  const database = await new DataSource({ type: 'postgres', url: databaseUrl }).initialize();
  const settings = {
    DATABASE_URL: databaseUrl,
    AUTH_URL: 'https://auth.example.com',
    BASE_URL: 'https://api.example.com',
    NATS_URL: natsUrl,
    LOCAL_DIR: localDir,
  };
  return {
    natsUrl,
    databaseUrl,
    localDir,
    env: settings,
    run: (args, env = settings, stdin = '') => runCommand(args, env, stdin),
    rows: (sql, parameters) => database.query(sql, parameters),
    counts: () =>
      database.query(
        `SELECT (SELECT count(*) FROM clients) AS clients, (SELECT count(*) FROM client_secrets) AS secrets,
                (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM grants) AS grants`,
      ),
    async close() {
      await database.destroy();
      await isolated.close();
      await rm(localDir, { recursive: true });
    },
  };
}
