import { randomInt } from 'node:crypto';
import { parseOptions, runTool, startPrivateServices, UsageError } from '../command.js';
import type { Plan } from './campaign.js';
import type { OpenTarget } from './target.js';

const USAGE = `npm run fuzz [-- --minutes N] [--seed S] [--target http|admin|portal|raw|nats|all] [--json]

Sends random requests to its own product, over HTTP, over raw TCP connections and over NATS. Reports server errors, stack
traces and credentials in answers and log lines, processes that end, connections that hang, answers that break a rule,
and memory that is not released.

  --minutes N   duration after the warm-up (default 5)
  --seed S      repeats the requests of the run that printed this seed
  --target T    only these requests; admin is the part of http for the HTTP API of operators, portal for owners' pages
  --json        prints the report as JSON
  --help        prints this help

Exit codes: 0 no findings, 1 findings, 2 wrong options.
`;

// Imported on demand, because they load most of the product.
const http: OpenTarget = async (...about) => (await import('./http-target.js')).openHttp(...about);
const admin: OpenTarget = async (...about) => (await import('./http-target.js')).openAdmin(...about);
const portal: OpenTarget = async (...about) => (await import('./http-target.js')).openPortal(...about);
const raw: OpenTarget = async (...about) => (await import('./raw-target.js')).openRaw(...about);
const nats: OpenTarget = async (...about) => (await import('./nats-target.js')).openNats(...about);

const TARGETS: Readonly<Record<string, readonly OpenTarget[]>> = {
  http: [http],
  admin: [admin],
  portal: [portal],
  raw: [raw],
  nats: [nats],
  all: [http, raw, nats],
};

interface Options {
  readonly plan: Plan;
  readonly json: boolean;
  readonly help: boolean;
}

function readOptions(): Options {
  const { minutes, seed, target, json, help } = parseOptions({
    minutes: '5',
    seed: String(randomInt(2 ** 31)),
    target: 'all',
    json: false,
  });
  const length = { minutes: Number(minutes) };
  if (!(length.minutes > 0 && length.minutes <= 24 * 60))
    throw new UsageError('--minutes must be a number above 0, 1440 at most');
  if (!/^\d{1,10}$/.test(seed)) throw new UsageError('--seed must be a whole number');
  const targets = Object.hasOwn(TARGETS, target) ? TARGETS[target] : undefined;
  if (!targets) throw new UsageError(`--target must be one of ${Object.keys(TARGETS).join(', ')}`);
  return { plan: { seed: Number(seed), length, targets }, json, help };
}

async function fuzz({ plan, json }: Options): Promise<number> {
  process.stderr.write(`seed ${plan.seed}\n`);
  const { Campaign } = await import('./campaign.js');
  const { jsonOf, progressLine, reportOf } = await import('./report.js');
  const services = await startPrivateServices();
  const campaign = new Campaign(plan);
  process.once('SIGINT', () => campaign.stop());
  const showing = show(() => progressLine(campaign.progress));
  try {
    const result = await campaign.run(services);
    process.stdout.write(json ? jsonOf(result) : `\n${reportOf(result)}`);
    return result.findings.length === 0 ? 0 : 1;
  } finally {
    clearInterval(showing);
  }
}

/** Shows progress: overwrites one line on a terminal, otherwise writes a line every half minute. */
function show(progress: () => string): NodeJS.Timeout {
  const { isTTY } = process.stderr;
  const write = () => process.stderr.write(isTTY ? `\r${progress()}\u001B[K` : `${progress()}\n`);
  return setInterval(write, isTTY ? 1_000 : 30_000);
}

await runTool(USAGE, readOptions, fuzz);
