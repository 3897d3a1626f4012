import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { authorizeCases } from './cases/authorize-cases.js';
import { resourceCases } from './cases/resource-cases.js';
import { tokenCases, Tokens } from './cases/token-cases.js';
import { compare, pin } from './compare/compare.js';
import { installPeers, startPeers } from './compare/contestants.js';
import { chart, tables } from './compare/report.js';
import type { Case } from './load.js';
import { type Figures, highestMemory, measure, type Usage, usageOf } from './measure.js';
import { newPerson, type Person } from './person.js';
import { type Product, startProduct } from './product.js';
import { type Report, reportOf, writePeers, writeReport } from './report.js';
import { many } from './several.js';
import { sizesFrom } from './sizing.js';
import { grantBytes, redisBytes, sessionBytes } from './storage.js';

const USAGE = `npm run bench [-- --peers] [-- --write]

Measures what each request costs, and computes the size of an installation. It takes some minutes, in which nothing
else should run on the machine.

  --peers   compares the product with oidc-provider and with two floors instead; writes dist/qa/bench/peers.json and peers.svg
  --write   also writes the figures to docs/sizing.md, with --peers to docs/performance.md
  --help    shows this

npm run bench:growth compares 1,000 live grants with 1,000,000.
`;

const SECONDS = 4;
const CODES = 4_000;
const PEOPLE = 100;
/** V8 collects garbage when a process has been idle for a while. */
const IDLE_MS = 30_000;

async function run(product: Product): Promise<Report> {
  const { fixture, apps } = product;
  const loadBefore = loadavg()[0] ?? NaN;
  const atRest = await memoryWhenIdle(apps);
  const client = await fixture.client();
  const users = await many(PEOPLE, () => fixture.user());
  const figures: Record<string, Figures> = {};
  const take = async <N extends string>(cases: Readonly<Record<N, Case>>, names: readonly N[]) => {
    for (const name of names) {
      figures[name] = await measure(cases[name], apps, SECONDS);
      process.stderr.write(`${name}: ${Math.round(figures[name].busy.perSecond)}/s\n`);
    }
  };

  const tokens = new Tokens();
  const inRedis = await redisBytes(fixture);
  let turn = 0;
  tokens.codes.push(
    ...(await many(CODES, () => fixture.code(client.client_id, users[turn++ % PEOPLE] ?? 0))),
  );
  const token = await tokenCases(product, client, tokens);
  // The cheapest cases first, so that no case includes the app's warm-up.
  await take(token, ['metadata', 'forged', 'redeem']);
  const grant = await grantBytes(fixture, inRedis, CODES);
  await take(token, ['refresh', 'introspect', 'par']);
  await take(resourceCases(product, tokens), ['forgedAtApi', 'known', 'unknown']);
  await take(token, ['revoke']);

  const people: Person[] = await many(PEOPLE, () => newPerson(product, client.client_id));
  const pages = authorizeCases(product, client.client_id, people);
  await take(pages, ['start', 'loginPage', 'login', 'consent', 'allow', 'remembered', 'apps']);

  const storage = { ...grant, sessionInRedis: await sessionBytes(fixture) };
  const memory = {
    atRest,
    highest: highestMemory(Object.values(figures)),
    afterLoad: await memoryWhenIdle(apps),
  };
  return { figures, storage, memory, loadBefore, sizes: sizesFrom(figures, storage) };
}

async function memoryWhenIdle(apps: Product['apps']): Promise<Usage['memory']> {
  await sleep(IDLE_MS);
  return (await usageOf(apps)).memory;
}

/** @throws Error that names the unknown option */
function options(): Partial<Record<'write' | 'peers' | 'help', boolean | undefined>> {
  const flag = { type: 'boolean' } as const;
  return parseArgs({ options: { write: flag, peers: flag, help: flag } }).values;
}

async function bench(write: boolean): Promise<void> {
  const product = await startProduct();
  try {
    const report = reportOf(await run(product));
    process.stdout.write(report);
    if (write) await writeReport(report);
  } finally {
    await product.close();
  }
}

async function benchPeers(write: boolean): Promise<void> {
  await installPeers();
  const product = await startProduct();
  const contestants = await startPeers(product, product.redisUrl, product.folder);
  try {
    if (!(await pin()))
      process.stderr.write('servers and load share cores: taskset or a second core is missing\n');
    const results = await compare(contestants, (done, next) =>
      process.stderr.write(`${Math.round(done * 100)} % ${next}\n`),
    );
    process.stdout.write(`${tables(results)}\n`);
    await mkdir('dist/qa/bench', { recursive: true });
    await writeFile('dist/qa/bench/peers.json', `${JSON.stringify(results, null, 2)}\n`);
    await writeFile('dist/qa/bench/peers.svg', chart(results));
    if (write) await writePeers(tables(results), chart(results));
  } finally {
    await Promise.all(contestants.map((contestant) => contestant.stop()));
    await product.close();
  }
}

try {
  const { write = false, peers = false, help = false } = options();
  if (help) process.stdout.write(USAGE);
  else if (peers) await benchPeers(write);
  else await bench(write);
} catch (error) {
  const { code = '', message } = error as { code?: string; message: string };
  if (!code.startsWith('ERR_PARSE_ARGS')) throw error;
  process.stderr.write(`error: ${message}\n\n${USAGE}`);
  process.exitCode = 2;
}
