import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { authorizeCases, newPerson, resourceCases, tokenCases, Tokens } from './cases.js';
import { benchmark, many, type Product } from './product.js';
import { type Case, type Figures, highestMemory, measureAll, type Usage, usageOf } from './measure.js';
import { type Report, reportOf, writeReport } from './report.js';
import { grantBytes, redisBytes, sessionBytes, sizesFrom } from './sizing.js';

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

export const benchProduct = (write: boolean): Promise<number> =>
  benchmark(async (product) => {
    const report = reportOf(await measureProduct(product));
    if (write) await writeReport(report);
    return report;
  });
