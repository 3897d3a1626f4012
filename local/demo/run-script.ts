import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { StepFailure, Transcript } from './transcript.js';

/** Fields of `run.json`, which `npm start` writes. */
export interface RunFile {
  auth_url: string;
  base_url: string;
  api_url: string;
  client: { client_id: string; client_secret: string; redirect_uri: string };
  user: { email: string; password: string };
}

class NotRunningError extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(
      `${why}\nRun "npm start" in another terminal, wait until it says that it is ready, then try again.`,
      options,
    );
    this.name = 'NotRunningError';
  }
}

export class NoPasswordError extends Error {
  constructor(loginAt: string) {
    super(
      `Users log in at ${loginAt}, and the demo needs a password.\n` +
        'Run "npm start" without LOGIN_URL and LOGIN_ISSUER, then try again.',
    );
    this.name = 'NoPasswordError';
  }
}

/**
 * Reads run.json in LOCAL_DIR or `.local`.
 *
 * @throws NotRunningError if the file is missing, unreadable or incomplete
 * @throws NoPasswordError if users log in elsewhere
 */
export async function readRunFile(env: NodeJS.ProcessEnv): Promise<RunFile> {
  const path = resolve(env['LOCAL_DIR'] || '.local', 'run.json');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new NotRunningError(
        `The product is not running: there is no ${path} (LOCAL_DIR must be the same in both places).`,
        { cause },
      );
    throw new NotRunningError(`${path} cannot be read (${code}): run this as the user who ran npm start.`, {
      cause,
    });
  }
  const run = parse(text);
  if (!run) throw new NotRunningError(`${path} is not complete.`);
  return run;
}

function parse(text: string): RunFile | undefined {
  try {
    const { auth_url, base_url, api_url, client, user } = JSON.parse(text) as RunFile;
    if ('login_at' in user) throw new NoPasswordError(String(user.login_at));
    const { client_id, client_secret, redirect_uri } = client;
    const all = [
      auth_url,
      base_url,
      api_url,
      client_id,
      client_secret,
      redirect_uri,
      user.email,
      user.password,
    ];
    if (!all.every((value) => typeof value === 'string' && value !== '')) return undefined;
    return { auth_url, base_url, api_url, client, user };
  } catch (error) {
    if (error instanceof NoPasswordError) throw error;
    return undefined;
  }
}

/** Runs a script. Sets the exit code to 1 if the script fails. */
export async function runScript(
  script: (run: RunFile, transcript: Transcript) => Promise<void>,
): Promise<void> {
  const colour = process.stdout.isTTY && !process.env['NO_COLOR'];
  const transcript = new Transcript((line) => process.stdout.write(`${line}\n`), colour);
  try {
    await script(await readRunFile(process.env), transcript);
  } catch (error) {
    const shown = error instanceof NotRunningError || error instanceof NoPasswordError;
    if (error instanceof StepFailure) transcript.failed(error);
    else process.stderr.write(`${shown ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
