import { readFile } from 'node:fs/promises';
import 'reflect-metadata';
import { failureText } from '#operations/failure-text.js';
import { progressOn } from './servers/progress.js';
import { Supervisor } from './supervisor/supervisor.js';
import { StartError } from './supervisor/settings.js';

const POLL_MS = 200;

/**
 * Watches the npm process that started this one, because npm cannot forward SIGKILL.
 * @returns a function that stops the watch
 */
async function watchNpm(env: NodeJS.ProcessEnv, onEnd: () => void): Promise<() => void> {
  if (!env['npm_lifecycle_event']) return () => undefined;
  const parent = process.ppid;
  // npm runs the script in a shell, which may have replaced itself with this process by `exec`.
  const grandparent = await parentOf(parent);
  const timer = setInterval(() => {
    void hasEnded(parent, grandparent).then((ended) => {
      if (!ended) return;
      clearInterval(timer);
      onEnd();
    });
  }, POLL_MS);
  return () => clearInterval(timer);
}

async function hasEnded(parent: number, grandparent: number | undefined): Promise<boolean> {
  if (process.ppid !== parent) return true;
  return grandparent !== undefined && (await parentOf(parent)) !== grandparent;
}

/** Returns the parent of a shell; undefined without /proc or for another process, because npm's parent may end. */
async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
  return /^(sh|dash|bash|ash|busybox|zsh)$/.test(name) ? Number(rest.split(' ')[1]) : undefined;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
// Processes that take longer are ended by their guards.
const STOP_TIMEOUT_MS = 9_000;

// Writing to a closed terminal fails, but the product must stop gracefully.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
const show = progressOn(process.stdout);
const printError = (text: string): void => void process.stderr.write(`\nnpm start: ${text}\n`);

process.exitCode = await run();
process.exit();

/** Runs the product. @returns exit code 0 after a signal or the end of npm, 1 after an error */
async function run(): Promise<number> {
  let stop: (why: string) => void = () => undefined;
  const stopRequested = new Promise<string>((resolve) => (stop = resolve));
  let stopRequestedAt: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      stop(signal);
      stopRequestedAt ??= performance.now();
      // A second signal ends the process immediately; the guards then end its children. Two signals within a second are
      // the same Ctrl-C, sent by the terminal and by npm.
      if (performance.now() - stopRequestedAt > 1_000) process.exit(1);
    });
  }
  await watchNpm(process.env, () => stop('npm has ended'));
  let supervisor: Supervisor | undefined;
  let code = 1;
  try {
    supervisor = new Supervisor(process.env, process.argv.slice(2), show);
    const started = supervisor.start().then(() => undefined);
    // Prevents an unhandled rejection if the start fails after a signal.
    started.catch(() => undefined);
    const reason =
      (await Promise.race([stopRequested, started])) ?? (await reasonToStop(supervisor, stopRequested));
    show(`\nstopping (${reason})`);
    code = 0;
  } catch (error) {
    printError(text(error));
  }
  const deadline = setTimeout(() => process.exit(code), STOP_TIMEOUT_MS);
  await supervisor?.stop().catch((error: unknown) => printError(text(error)));
  clearTimeout(deadline);
  return code;
}

/** @returns the reason for a requested stop @throws StartError if a part of the product fails */
async function reasonToStop(supervisor: Supervisor, stopRequested: Promise<string>): Promise<string> {
  const failure = supervisor.firstExit().then((how) => {
    throw new StartError(how);
  });
  return Promise.race([stopRequested, failure]);
}

/** Returns the message of an error, or the stack of a bug. */
function text(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isBug = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
  return (isBug && error.stack) || failureText(error);
}
