import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const VARIABLES = {
  DATABASE_URL: 'database_url',
  DATABASE_SCHEMA: 'database_schema',
  AUTH_URL: 'auth_url',
  BASE_URL: 'base_url',
  NATS_URL: 'nats_url',
} as const;

/** What `npm start` writes while it runs, and removes at its end; LOCAL_DIR moves the folder. */
export function runFile(env: NodeJS.ProcessEnv): string {
  return resolve(env.LOCAL_DIR || '.local', 'run.json');
}

/**
 * Settings of the product that `npm start` runs in this folder, as variables.
 *
 * @returns null when nothing runs
 */
export function runningProduct(env: NodeJS.ProcessEnv): Record<string, string> | null {
  const file = runFile(env);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(`cannot read ${file}: run this as the user who ran "npm start", or set DATABASE_URL`, {
      cause: error,
    });
  }
  let run: Record<string, unknown>;
  try {
    run = Object(JSON.parse(text)) as Record<string, unknown>;
  } catch (cause) {
    throw new Error(`${file} is not valid JSON: restart "npm start", or set DATABASE_URL`, { cause });
  }
  const known = Object.entries(VARIABLES).map(([variable, field]) => [variable, run[field]] as const);
  return Object.fromEntries(
    known.filter((entry): entry is [keyof typeof VARIABLES, string] => typeof entry[1] === 'string'),
  );
}
