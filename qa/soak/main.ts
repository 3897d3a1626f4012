import 'reflect-metadata';
import { runTool } from '../command.js';
import { readOptions, USAGE } from './plan.js';
import { textOf } from './report.js';

await runTool(
  USAGE,
  () => readOptions(process.argv.slice(2)),
  async ({ json, ...options }) => {
    const progress = (line: string): void => void process.stderr.write(`${line}\n`);
    // Imported on demand, because it loads most of the product.
    const { soak } = await import('./soak.js');
    const end = new AbortController();
    // The first SIGINT ends the run with a report. The second one ends the process and its children.
    process.once('SIGINT', () => end.abort());
    progress(`soak: seed ${options.seed}; starting two replicas of each app`);
    const report = await soak({
      ...options,
      accounts: 12,
      pauseMs: 200,
      quietMs: 10_000,
      progress,
      signal: end.signal,
    });
    process.stdout.write(json ? `${JSON.stringify(report, undefined, 2)}\n` : textOf(report));
    return report.violations.length > 0 ? 1 : 0;
  },
);
