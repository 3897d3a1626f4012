import { MAX_LIVE_GRANTS } from '#grants/grant.js';
import { authorizeCases } from './cases/authorize-cases.js';
import { resourceCases } from './cases/resource-cases.js';
import { tokenCases, Tokens } from './cases/token-cases.js';
import { parseOptions, UsageError } from '../command.js';
import { table } from './report.js';
import { benchmark } from './command.js';
import { fillGrants, fillUser } from './growth-fill.js';
import { type Figures, measureAll } from './measure.js';
import { authorizationPath, newPerson, type Person } from './person.js';
import { many, type Product } from './product.js';

const USAGE = `npm run bench:growth [-- --grants 1000000]

Measures what growth costs: requests with 1,000 live grants and with --grants, all of one client; then the pages of
others while one user has a tenth of --grants, most of them revoked. It takes about ten minutes, in which nothing else should run on the
machine.

  --grants  live grants in PostgreSQL and Redis, at least 10000 (1000000)
  --help    shows this
`;

const FEW = 1_000;
const CODES = 3_000;
/** Number of users, large enough that no user reaches the limit of live grants in a stage. */
const PEOPLE = 20;
const SECONDS = 4;
/** Number of connections that load one user's pages while other users' pages are measured. */
const VISITORS = 2;

type Measurement = Readonly<Record<string, Figures>>;

async function growth(product: Product, grants: number): Promise<string> {
  const { fixture } = product;
  const client = await fixture.client();
  const people = await many(PEOPLE, () => newPerson(product, client.client_id));
  const [heavy, light] = [
    await newPerson(product, client.client_id),
    await newPerson(product, client.client_id),
  ];
  const heavyId = await idOf(product, heavy);

  const measureStage = async (): Promise<Measurement> => {
    const tokens = new Tokens();
    const users = await many(PEOPLE, () => fixture.user());
    let turn = 0;
    const code = () => fixture.code(client.client_id, users[turn++ % PEOPLE] ?? 0);
    tokens.codes.push(...(await many(CODES, code)));
    const { redeem, refresh } = await tokenCases(product, client, tokens);
    const figures = await measureAll({ redeem, refresh }, product.apps, SECONDS);
    const { unknown } = resourceCases(product, tokens);
    const api = await measureAll({ unknown }, product.apps, SECONDS);
    return { ...figures, ...api, ...(await pages()) };
  };
  const pages = (): Promise<Measurement> => {
    const { consent, apps } = authorizeCases(product, client.client_id, people);
    return measureAll({ consent, apps }, product.apps, SECONDS);
  };

  await fillGrants(product, client.client_id, 1, FEW);
  // Discards the first measurement, in which V8 compiles the code.
  await measureStage();
  const before = await measureStage();
  await fillGrants(product, client.client_id, FEW + 1, grants);
  const after = await measureStage();

  const alone = await besideVisits(product, client.client_id, light, pages);
  const own = Math.floor(grants / 10);
  await fillUser(product, client.client_id, heavyId, own);
  const withHeavy = await pages();
  const beside = await besideVisits(product, client.client_id, heavy, pages);
  return [
    comparison(`${FEW} grants`, before, `${grants} grants`, after),
    `Others' pages, while one user has ${own} grants, ${MAX_LIVE_GRANTS} of them live:`,
    comparison('before', after, 'after', withHeavy),
    `Others' pages, while ${VISITORS} connections request one user's pages:`,
    comparison('a user with no grant', alone, `with ${own} grants`, beside, ['p50']),
  ].join('\n\n');
}

async function besideVisits(
  { authUrl }: Product,
  clientId: string,
  { session: { cookie } }: Person,
  work: () => Promise<Measurement>,
): Promise<Measurement> {
  const end = new AbortController();
  const visitor = async () => {
    while (!end.signal.aborted)
      for (const path of ['/auth/apps', authorizationPath(clientId, 'consent')]) {
        const answer = await fetch(new URL(path, authUrl), { headers: { cookie } });
        await answer.text();
        if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
      }
  };
  const visits = Promise.all(Array.from({ length: VISITORS }, visitor));
  const figures = await work().finally(() => end.abort());
  await visits;
  return figures;
}

async function idOf({ fixture }: Product, { login }: Person): Promise<number> {
  const username = new URLSearchParams(login.body).get('username');
  const [row] = await fixture.sql('SELECT id FROM users WHERE username = $1', [username]);
  return (row as { id: number }).id;
}

/** @param columns without CPU for measurements that include background load */
function comparison(
  name: string,
  before: Measurement,
  otherName: string,
  after: Measurement,
  columns: readonly ('p50' | 'CPU')[] = ['p50', 'CPU'],
): string {
  const cpuOf = ({ cpu }: Figures) => Object.values(cpu).reduce((sum, part) => sum + part, 0);
  const rows = Object.entries(before).flatMap(([key, first]) => {
    const second = after[key];
    if (!second) return [];
    const values = { p50: [first.alone.p50, second.alone.p50], CPU: [cpuOf(first), cpuOf(second)] } as const;
    const cells = columns.flatMap((column) => {
      const [a, b] = values[column];
      return [a.toFixed(2), b.toFixed(2), (b / a).toFixed(2)];
    });
    return [[first.name, ...cells]];
  });
  return table(['request', ...columns.flatMap((column) => [`${column}: ${name}`, otherName, 'ratio'])], rows);
}

function readOptions(): { readonly grants: number; readonly help: boolean } {
  const { grants, help } = parseOptions({
    options: { grants: { type: 'string', default: '1000000' }, help: { type: 'boolean', default: false } },
  }).values;
  if (!/^\d{5,8}$/.test(grants)) throw new UsageError(`--grants ${grants} is not a number from 10000`);
  return { grants: Number(grants), help };
}

await benchmark(USAGE, readOptions, (product, { grants }) => growth(product, grants));
