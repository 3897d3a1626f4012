import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { StepFailure, type Transcript } from '../demo/transcript.js';

const MAIN = fileURLToPath(new URL('../../apps/operator.cjs', import.meta.url));
/** Absolute path of the folder of run.json, because the commands have another working directory. */
const LOCAL_DIR = resolve(process.env['LOCAL_DIR'] || '.local');
const SHOWN_LINES = 24;

export interface Expectations {
  /** Texts that stdout must contain, in any order. */
  readonly shows?: readonly (string | RegExp)[];
  readonly hides?: readonly string[];
  readonly codes?: readonly number[];
  readonly stdin?: string;
  /** True to print nothing. */
  readonly silent?: boolean;
  /** True to print only stderr, because stdout contains a secret. */
  readonly secret?: boolean;
  /** True to run the command up to 20 times until it succeeds: an audit event is indexed after about a second. */
  readonly patient?: boolean;
}

interface Ended {
  readonly out: string;
  readonly errors: string;
  readonly code: number | null;
}

const PATIENCE = 20;

/** Runs commands as child processes, which find the product through run.json. */
export class CommandLine {
  /** @param folder working directory of the commands */
  constructor(
    private readonly transcript: Transcript,
    private readonly folder: string,
  ) {}

  /** Runs a command, and prints it and its output. @returns stdout @throws StepFailure */
  async run(args: readonly string[], expected: Expectations = {}): Promise<string> {
    let ended = await this.start(args, expected.stdin);
    let problem = problemOf(args, ended, expected);
    for (let tries = 1; problem && expected.patient && tries < PATIENCE; tries += 1) {
      await sleep(500);
      ended = await this.start(args, expected.stdin);
      problem = problemOf(args, ended, expected);
    }
    if (!expected.silent) {
      this.transcript.line(`    $ operator ${args.map(quoted).join(' ')}`, 36);
      this.show(expected.secret ? ended.errors : ended.errors + ended.out);
    }
    if (problem) throw problem;
    return ended.out;
  }

  private async start(args: readonly string[], stdin = ''): Promise<Ended> {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: this.folder,
      env: { ...process.env, LOCAL_DIR, OPERATOR_NAME: 'grace' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => undefined).end(stdin);
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    return { out, errors, code };
  }

  async json<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.run([...args, '--json'], { silent: true })) as T;
  }

  private show(output: string): void {
    const lines = output.trimEnd().split('\n');
    for (const line of lines.slice(0, SHOWN_LINES)) this.transcript.line(`      ${line}`, 2);
    if (lines.length > SHOWN_LINES)
      this.transcript.line(`      … ${lines.length - SHOWN_LINES} more lines`, 2);
  }
}

function problemOf(
  args: readonly string[],
  { out, errors, code }: Ended,
  { shows = [], hides = [], codes = [0] }: Expectations,
): StepFailure | undefined {
  const command = `operator ${args.join(' ')}`;
  if (code === null || !codes.includes(code))
    return new StepFailure(`exit code ${codes.join(' or ')} of ${command}`, `${code}: ${errors.trim()}`);
  const missing = shows.find((what) => (typeof what === 'string' ? !out.includes(what) : !what.test(out)));
  if (missing !== undefined)
    return new StepFailure(`${String(missing)} in the output of ${command}`, out.trim());
  if (hides.some((what) => out.includes(what)))
    return new StepFailure(`an output of ${command} without a secret`, 'one with it');
  return undefined;
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`);
