import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseOptions } from '../command.js';
import { authorizeCases } from './cases/authorize-cases.js';
import { resourceCases } from './cases/resource-cases.js';
import { tokenCases, Tokens } from './cases/token-cases.js';
import { benchmark } from './command.js';
import { compare, pin } from './compare/compare.js';
import { installPeers, startPeers } from './compare/contestants.js';
import { chart, tables } from './compare/report.js';
import type { Case } from './load.js';
import { type Figures, highestMemory, measureAll, type Usage, usageOf } from './measure.js';
import { newPerson } from './person.js';
import { many, type Product } from './product.js';
import { type Report, reportOf, writePeers, writeReport } from './report.js';
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
/** Pause in which an idle process collects garbage, before its memory is measured. */
const IDLE_MS = 30_000;

async function measureProduct(product: Product): Promise<Report> {
  const { fixture, apps } = product;
  const loadBefore = loadavg()[0] ?? NaN;
  const atRest = await memoryWhenIdle(apps);
  const client = await fixture.client();
  const users = await many(PEOPLE, () => fixture.user());

  const tokens = new Tokens();
  const inRedis = await redisBytes(fixture);
  let turn = 0;
  const newCode = () => fixture.code(client.client_id, users[turn++ % PEOPLE] ?? 0);
  tokens.codes.push(...(await many(CODES, newCode)));
  const cases = await tokenCases(product, client, tokens);
  const { metadata, forged, redeem, refresh, introspect, par, revoke } = cases;
  const figures: Record<string, Figures> = {};
  const take = async (subjects: Readonly<Record<string, Case>>) =>
    Object.assign(figures, await measureAll(subjects, apps, SECONDS));
  // Measures the cheapest cases first, so that the other cases do not include the warm-up of the apps.
  await take({ metadata, forged, redeem });
  const grant = await grantBytes(fixture, inRedis, CODES);
  await take({ refresh, introspect, par });
  const { forgedAtApi, known, unknown } = resourceCases(product, tokens);
  await take({ forgedAtApi, known, unknown });
  await take({ revoke });

  const people = await many(PEOPLE, () => newPerson(product, client.client_id));
  await take(authorizeCases(product, client.client_id, people));

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

async function bench(product: Product, write: boolean): Promise<string> {
  const report = reportOf(await measureProduct(product));
  if (write) await writeReport(report);
  return report;
}

async function benchPeers(product: Product, write: boolean): Promise<string> {
  await installPeers();
  const contestants = await startPeers(product, product.redisUrl, product.folder);
  try {
    if (!(await pin()))
      process.stderr.write('servers and load share cores: taskset or a second core is missing\n');
    const results = await compare(contestants, (done, next) =>
      process.stderr.write(`${Math.round(done * 100)} % ${next}\n`),
    );
    await mkdir('dist/qa/bench', { recursive: true });
    await writeFile('dist/qa/bench/peers.json', `${JSON.stringify(results, null, 2)}\n`);
    await writeFile('dist/qa/bench/peers.svg', chart(results));
    if (write) await writePeers(tables(results), chart(results));
    return tables(results);
  } finally {
    await Promise.all(contestants.map((contestant) => contestant.stop()));
  }
}

const flag = { type: 'boolean', default: false } as const;
await benchmark(
  USAGE,
  () => parseOptions({ options: { write: flag, peers: flag, help: flag } }).values,
  (product, { peers, write }) => (peers ? benchPeers : bench)(product, write),
);
