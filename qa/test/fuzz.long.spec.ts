import { isolate } from '#test/support/isolate.js';
import type { Actor } from '../fuzz/actor.js';
import { Campaign } from '../fuzz/campaign.js';
import { FUZZED_ENDPOINTS } from '../fuzz/endpoints/endpoints.js';
import { httpRecipe, openHttp } from '../fuzz/http-target.js';
import { Findings, runLane } from '../fuzz/lane.js';
import { openNats } from '../fuzz/nats-target.js';
import { openRaw } from '../fuzz/raw-target.js';
import type { HttpRecipe } from '../fuzz/request.js';
import { reportOf } from '../fuzz/report.js';
import type { OpenTarget, Target } from '../fuzz/target.js';
import { routesOf } from '../openapi/routes.js';

const SEED = 20_261_122;
describe('npm run fuzz', () => {
  it('finds no violation and covers the expected responses', async () => {
    // 30 concurrent lanes, because a request that never ends takes 10 s.
    const openWide: OpenTarget = async (...about) => ({ ...(await openRaw(...about)), lanes: 30 });
    const plan = { seed: SEED, length: { requests: 120 }, targets: [openHttp, openWide, openNats] };
    const result = await new Campaign(plan).run(await isolate());
    expect(result.findings).toEqual([]);
    expect(result.requests).toBeGreaterThanOrEqual(180);
    const statuses = [...result.outcomes.values()].flatMap((counts) => [...counts.keys()]);
    expect(statuses).toEqual(expect.arrayContaining(['200', '303', '400', '404', 'answered']));
    expect(reportOf(result)).toContain('no findings');
  });

  it('sends the same requests for the same seed', async () => {
    const [one, same, other] = [await runTestLane(1), await runTestLane(1), await runTestLane(2)];
    expect(one.recipes).toHaveLength(200);
    expect(same.recipes).toEqual(one.recipes);
    expect(other.recipes).not.toEqual(one.recipes);
  });

  it('reports only the smallest request that violates a rule', async () => {
    const { findings } = await runTestLane(1, ({ variant }) => variant >= 40_000);
    expect(findings).toEqual([
      {
        ...PLANTED,
        times: expect.any(Number),
        recipe: { endpoint: expect.any(String), variant: 40_000, mutations: [] },
      },
    ]);
    expect(findings[0]?.times).toBeGreaterThan(20);
  });
});

it.each([
  ['authorize', ''],
  ['token', ''],
  ['resource', ''],
  // Only the console's HTTP API is fuzzed, because its pages need a login.
  ['console', 'api/'],
  ['developers', ''],
])('every route of %s is fuzzed', async (app, part) => {
  const fuzzed = FUZZED_ENDPOINTS.filter((endpoint) => endpoint.app === app && !endpoint.internal);
  const names = new Set(fuzzed.map(({ name }) => name.split(': ')[0]));
  const routes = (await routesOf(app, part)).flatMap(({ method, paths }) =>
    paths.map((path) => `${method.toUpperCase()} ${path}`),
  );
  expect(routes.length).toBeGreaterThan(2);
  // The paths below /auth/login/ exist only if users log in at the product.
  expect(routes.filter((route) => !names.has(route) && !route.includes('/auth/login/'))).toEqual([]);
});

const PLANTED = { rule: 'planted', where: 'here', detail: '' };

async function runTestLane(seed: number, isBad: (recipe: HttpRecipe) => boolean = () => false) {
  const recipes: unknown[] = [];
  const findings = new Findings();
  const target: Target<HttpRecipe> = {
    name: 'http',
    lanes: 1,
    recipe: httpRecipe,
    close: async () => undefined,
    run: async (recipe) => (isBad(recipe) ? [PLANTED] : []),
  };
  const run = { seed, runs: 200, isOver: () => false, onRecipe: (recipe: unknown) => recipes.push(recipe) };
  await runLane({ target, actor: null as unknown as Actor }, run, findings);
  return { recipes, findings: findings.all };
}
