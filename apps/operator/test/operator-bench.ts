import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { isolate } from '#testing/isolate.js';

/** Services and settings of one suite, and a way to look at what a command wrote. */
export interface OperatorBench {
  env: NodeJS.ProcessEnv;
  natsUrl: string;
  databaseUrl: string;
  /** An empty folder that stands for `.local`. */
  localDir: string;
  rows<T>(sql: string, parameters?: unknown[]): Promise<T[]>;
  /** How many clients, secrets, users and grants there are. */
  counts(): Promise<unknown>;
  close(): Promise<void>;
}

export async function operatorBench(): Promise<OperatorBench> {
  const isolated = await isolate();
  const { databaseUrl, natsUrl } = isolated;
  const localDir = await mkdtemp(join(tmpdir(), 'operator-'));
  const database = await new DataSource({ type: 'postgres', url: databaseUrl }).initialize();
  return {
    natsUrl,
    databaseUrl,
    localDir,
    env: {
      DATABASE_URL: databaseUrl,
      AUTH_URL: 'https://auth.example.com',
      BASE_URL: 'https://api.example.com',
      NATS_URL: natsUrl,
      LOCAL_DIR: localDir,
    },
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
