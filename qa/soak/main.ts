import 'reflect-metadata';
import { readOptions, USAGE, UsageError } from './options.js';
import { textOf } from './report.js';
import { soak } from './soak.js';

async function run(): Promise<number> {
  const { json, help, ...chosen } = readOptions(process.argv.slice(2));
  if (help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const end = new AbortController();
  // The first SIGINT ends the run with a report. The second has the default effect: it ends the process and its children.
  process.once('SIGINT', () => end.abort());
  progress(`soak: seed ${chosen.seed}; starting two replicas of each app`);
  const report = await soak({ ...chosen, accounts: 12, quietMs: 10_000, progress, signal: end.signal });
  process.stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : textOf(report));
  return report.violations.length > 0 ? 1 : 0;
}

try {
  process.exitCode = await run();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`error: ${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
