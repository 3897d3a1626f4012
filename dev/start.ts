import 'reflect-metadata';
import { progressOn } from '#testing/backing/progress.js';
import { watchNpm } from './supervisor/parent-watch.js';
import { Supervisor } from './supervisor/supervisor.js';
import { StartError } from './supervisor/start.error.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
// Guards end what takes longer.
const STOP_WITHIN = 9_000;

// A closed terminal takes its output with it; the product still has to end well.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
const show = progressOn(process.stdout);
const complain = (text: string): void => void process.stderr.write(`\nnpm start: ${text}\n`);

process.exitCode = await run();
process.exit();

/** Runs the product until it is asked to end, which is success, or until a part of it fails. */
async function run(): Promise<number> {
  let ask: (why: string) => void = () => undefined;
  const asked = new Promise<string>((resolve) => (ask = resolve));
  let askedAt: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      ask(signal);
      askedAt ??= performance.now();
      // A person who asks again does not want to wait: guards end everything once we are gone. What comes at once is
      // the same Ctrl-C, from the terminal and from npm.
      if (performance.now() - askedAt > 1_000) process.exit(1);
    });
  }
  await watchNpm(process.env, () => ask('npm is gone'));
  let supervisor: Supervisor | undefined;
  let code = 1;
  try {
    supervisor = new Supervisor(process.env, process.argv.slice(2), show);
    const started = supervisor.start().then(() => undefined);
    // Asked to end while it starts, we no longer care how that goes.
    started.catch(() => undefined);
    const reason = (await Promise.race([asked, started])) ?? (await endOf(supervisor, asked));
    show(`\nstopping (${reason})`);
    code = 0;
  } catch (error) {
    complain(text(error));
  }
  const deadline = setTimeout(() => process.exit(code), STOP_WITHIN);
  await supervisor?.stop().catch((error: unknown) => complain(text(error)));
  clearTimeout(deadline);
  return code;
}

/** Why the running product ends. @throws StartError when a part of it failed */
async function endOf(supervisor: Supervisor, asked: Promise<string>): Promise<string> {
  const failure = supervisor.firstDeath().then((how) => {
    throw new StartError(how);
  });
  return Promise.race([asked, failure]);
}

/** Our errors say what to do, so that a stack only hides it. */
function text(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isBug = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
  return (isBug && error.stack) || error.message;
}
