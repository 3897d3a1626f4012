import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/internal';
import { type DynamicModule, RequestMethod, type Type } from '@nestjs/common';
import { runCommand } from '#local/servers/run-command.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { isolate } from '#test/support/isolate.js';
import { AuthorizeConfiguration } from '../../apps/authorize/src/configuration/authorize.configuration.js';
import { AppModule as AuthorizeApp } from '../../apps/authorize/src/app.module.js';
import { ResourceConfiguration } from '../../apps/resource/src/resource.configuration.js';
import { ConsoleConfiguration } from '../../apps/console/src/console.configuration.js';
import { AppModule as ConsoleApp } from '../../apps/console/src/app.module.js';
import { AppModule as ResourceApp } from '../../apps/resource/src/app.module.js';
import { TokenConfiguration } from '../../apps/token/src/token.configuration.js';
import { AppModule as TokenApp } from '../../apps/token/src/app.module.js';
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

const SEED = 20_261_122;
const URL_OF_NOTHING = 'http://127.0.0.1:1';
const CONSOLE_URL = 'http://127.0.0.1:2';
const SETTINGS = {
  TOKEN_KEYS: 'A'.repeat(43),
  AUTH_URL: URL_OF_NOTHING,
  BASE_URL: URL_OF_NOTHING,
  API_URL: URL_OF_NOTHING,
  NATS_URL: 'nats://127.0.0.1:1',
};

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

  it('prints its usage for --help', async () => {
    const { code, stdout } = await fuzz('--help');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^npm run fuzz \[-- --minutes N\]/)]);
  });

  it.each([['--minutes=0'], ['--target=__proto__'], ['--wrong']])(
    'rejects %s and starts nothing',
    async (option) => {
      const { code, stdout, stderr } = await fuzz(option);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^error: .*\n\nnpm run fuzz/s);
    },
  );
});

it.each<[string, DynamicModule]>([
  ['authorize', AuthorizeApp.forRoot(Object.assign(new AuthorizeConfiguration(), SETTINGS))],
  ['token', TokenApp.forRoot(Object.assign(new TokenConfiguration(), SETTINGS))],
  ['resource', ResourceApp.forRoot(Object.assign(new ResourceConfiguration(), SETTINGS))],
  [
    'console',
    ConsoleApp.forRoot(
      Object.assign(new ConsoleConfiguration(), {
        ...SETTINGS,
        CONSOLE_URL,
        CONSOLE_ISSUER: URL_OF_NOTHING,
        CONSOLE_CLIENT_ID: 'c',
        CONSOLE_CLIENT_SECRET: 'c',
      }),
      Date.now,
    ),
  ],
])('every route of %s is fuzzed', (app, module) => {
  const fuzzed = FUZZED_ENDPOINTS.filter((endpoint) => endpoint.app === app && !endpoint.internal);
  const names = new Set(fuzzed.map(({ name }) => name.split(': ')[0]));
  // Only the console's HTTP API is fuzzed, because its pages need a login.
  const routes = routesOf(module).filter((route) => app !== 'console' || route.includes(ENDPOINTS.admin));
  expect(routes.length).toBeGreaterThan(2);
  expect(routes.filter((route) => !names.has(route))).toEqual([]);
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

function fuzz(...args: string[]) {
  return runCommand(process.execPath, ['dist/qa/fuzz/fuzz.js', ...args], {
    cwd: process.cwd(),
    env: { PATH: process.env['PATH'] },
  });
}

function routesOf(module: DynamicModule): string[] {
  return controllersOf(module).flatMap((controller) => {
    const prefix = String(Reflect.getMetadata(PATH_METADATA, controller));
    const prototype = controller.prototype as Record<string, object>;
    return Object.getOwnPropertyNames(prototype).flatMap((name) => {
      const handler = prototype[name] ?? {};
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      const paths = [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat();
      if (method === undefined) return [];
      return paths.map((path) => {
        const whole = `/${prefix}/${path}`.replaceAll(/\/+/g, '/').replace(/(.)\/$/, '$1');
        return `${RequestMethod[method]} ${whole}`;
      });
    });
  });
}

type Imported = Type<object> | DynamicModule;

function controllersOf(imported: Imported, seen = new Set<Imported>()): Type<object>[] {
  if (seen.has(imported)) return [];
  seen.add(imported);
  const isDynamic = 'module' in imported;
  const declared = (key: string): unknown[] =>
    (Reflect.getMetadata(key, isDynamic ? imported.module : imported) as unknown[] | undefined) ?? [];
  const controllers = [...declared('controllers'), ...(isDynamic ? (imported.controllers ?? []) : [])];
  const imports = [...declared('imports'), ...(isDynamic ? (imported.imports ?? []) : [])];
  return [
    ...(controllers as Type<object>[]),
    ...(imports as Imported[]).flatMap((inner) => controllersOf(inner, seen)),
  ];
}
