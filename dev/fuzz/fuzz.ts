import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '#database/connection/migrate.js';
import { startBackingServices } from '#testing/backing/backing-services.js';
import { Campaign, type Plan } from './campaign.js';
import { openHttp } from './http-target.js';
import { openNats } from './nats-target.js';
import { openRaw } from './raw-target.js';
import { jsonOf, progressLine, reportOf } from './report.js';
import type { OpenTarget } from './target.js';

const USAGE = `npm run fuzz [-- --minutes N] [--seed S] [--target http|raw|nats|all] [--json]

Sends random requests to a product of its own, over HTTP, over bare connections and over NATS, and fails on a server
error, a stack trace or credential in an answer or log line, a process that ends, a connection that hangs, an
answer that breaks a rule, or memory that does not come back.

  --minutes N   for how long, after a warm-up; 5 when absent
  --seed S      the same requests again, as a run before printed it
  --target T    only one way of asking
  --json        prints the report as JSON
  --help        shows this

Exit codes: 0 nothing found, 1 findings, 2 wrong options.
`;

const TARGETS: Readonly<Record<string, readonly OpenTarget[]>> = {
  http: [openHttp],
  raw: [openRaw],
  nats: [openNats],
  all: [openHttp, openRaw, openNats],
};

class UsageError extends Error {}

interface Options {
  readonly plan: Plan;
  readonly json: boolean;
}

/** @returns null where help is asked for. @throws UsageError, or what parseArgs throws */
function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      target: { type: 'string', default: 'all' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= 24 * 60))
    throw new UsageError('--minutes must be a number above 0, 1440 at most');
  if (!/^\d{1,10}$/.test(values.seed)) throw new UsageError('--seed must be a whole number');
  const targets = Object.hasOwn(TARGETS, values.target) ? TARGETS[values.target] : undefined;
  if (!targets) throw new UsageError(`--target must be one of ${Object.keys(TARGETS).join(', ')}`);
  return { plan: { seed: Number(values.seed), length: { minutes }, targets }, json: values.json };
}

async function fuzz({ plan, json }: Options): Promise<number> {
  process.stderr.write(`seed ${plan.seed}\n`);
  const services = await startBackingServices({
    env: { PATH: process.env['PATH'] },
    directory: resolve('.local'),
    persistent: false,
    progress: (text) => process.stderr.write(`${text}\n`),
  });
  await migrate(services.databaseUrl);
  const campaign = new Campaign(plan);
  process.once('SIGINT', () => campaign.stop());
  const showing = show(campaign);
  try {
    const result = await campaign.run({ ...services, close: () => services.stop() });
    process.stdout.write(json ? jsonOf(result) : `\n${reportOf(result)}`);
    return result.findings.length === 0 ? 0 : 1;
  } finally {
    clearInterval(showing);
  }
}

/** One line that is written over on a terminal, else a line every half minute. */
function show(campaign: Campaign): NodeJS.Timeout {
  const { isTTY } = process.stderr;
  const write = () =>
    process.stderr.write(
      isTTY ? `\r${progressLine(campaign.progress)}\u001B[K` : `${progressLine(campaign.progress)}\n`,
    );
  return setInterval(write, isTTY ? 1_000 : 30_000);
}

try {
  const options = readOptions();
  if (options) process.exitCode = await fuzz(options);
  else process.stdout.write(USAGE);
} catch (error) {
  const { code = '', message } = error as { code?: string; message: string };
  if (!code.startsWith('ERR_PARSE_ARGS') && !(error instanceof UsageError)) throw error;
  process.stderr.write(`error: ${message}\n\n${USAGE}`);
  process.exitCode = 2;
}
