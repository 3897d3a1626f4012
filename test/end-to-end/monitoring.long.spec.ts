import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { serverEnvironment } from '#local/servers/find-server.js';
import { runCommand } from '#local/servers/run-command.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { findTool } from '#test/support/tool.js';
import { parser } from '@prometheus-io/lezer-promql';
import { parse, stringify } from 'yaml';
import { render } from '../../k8s/test/render.js';
import { type ProductProcesses, startProcesses } from './started-product.js';
import { ProductUser } from './running-product.js';

const FOLDER = resolve('k8s', 'monitoring');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Query {
  readonly where: string;
  readonly expr: string;
  /** Labels used in the text around the query. */
  readonly named: readonly string[];
}

let product: ProductProcesses;
let metrics: Map<string, Map<string, Set<string>>>;
let queries: Query[];
let rules: Rule[];

beforeAll(async () => {
  product = await startProcesses({ LOG_LEVEL: 'fatal' });
  const user = new ProductUser(product.run);
  const { body } = await user.redeem(await user.code());
  await user.me(body['access_token']);
  await user.me('nonsense');
  await user.redeem('nonsense');
  const wrong = { ...product.run, user: { ...product.run.user, password: 'wrong' } };
  await new ProductUser(wrong).code().catch(() => undefined);
  const apps = Object.values(product.apps);
  const texts = await Promise.all(
    apps.map(async ({ internalUrl }) => (await fetch(`${internalUrl}/metrics`)).text()),
  );
  metrics = metricsIn(texts.join('\n'));
  rules = await readRules();
  queries = [...rules.map(queryOfRule), ...(await readPanels()).flatMap(queriesOfPanel)];
});

afterAll(() => product.close());

async function readRules(): Promise<Rule[]> {
  const file = parse(await readFile(`${FOLDER}/alerts.yaml`, 'utf8')) as {
    spec: { groups: { rules: Rule[] }[] };
  };
  return file.spec.groups.flatMap((group) => group.rules);
}

async function readPanels(): Promise<Panel[]> {
  const { panels } = JSON.parse(await readFile(`${FOLDER}/dashboard.json`, 'utf8')) as { panels: Panel[] };
  return panels;
}

function queryOfRule({ alert, expr, annotations }: Rule): Query {
  const words = Object.values(annotations).join(' ');
  return { where: alert, expr, named: [...words.matchAll(/\$labels\.(\w+)/g)].map(([, name = '']) => name) };
}

function queriesOfPanel({ title, targets = [] }: Panel): Query[] {
  return targets.map(({ expr, legendFormat }) => ({
    where: title,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$service', '.*'),
    named: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name),
  }));
}

function metricsIn(text: string): typeof metrics {
  const found: typeof metrics = new Map();
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z0-9_]+)(?:\{(.*)\})? \S+$/gm)) {
    const own = found.get(name) ?? new Map<string, Set<string>>();
    found.set(name, own);
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g))
      own.set(label, (own.get(label) ?? new Set()).add(value));
  }
  return found;
}

interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

interface Parsed {
  readonly errors: string[];
  readonly selectors: Selector[];
  readonly grouping: string[];
}

function parsed(expr: string): Parsed {
  const result: Parsed = { errors: [], selectors: [], grouping: [] };
  const text = ({ from, to }: { from: number; to: number }) => expr.slice(from, to);
  parser.parse(expr).iterate({
    enter: ({ name, type, node }) => {
      if (type.isError) result.errors.push(`at ${node.from}`);
      if (name === 'VectorSelector') {
        const identifier = node.getChild('Identifier');
        const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
        result.selectors.push({
          metric: identifier ? text(identifier) : '',
          matchers: matchers.map((matcher) => {
            const [label, operator, value] = [
              matcher.getChild('LabelName'),
              matcher.getChild('MatchOp'),
              matcher.getChild('StringLiteral'),
            ].map((child) => (child ? text(child) : ''));
            return { label: label ?? '', operator: operator ?? '', value: (value ?? '').slice(1, -1) };
          }),
        });
      }
      if (name === 'GroupingLabels')
        result.grouping.push(...node.getChildren('LabelName').map((label) => text(label)));
    },
  });
  return result;
}

/** Labels that Prometheus adds to each series of a target. */
const OF_TARGET = ['namespace', 'job', 'instance'];
/** Metrics of the blackbox exporter (k8s/monitoring/probe.yaml), and of the console, which the suite does not start. */
const OF_OTHERS = ['probe_ssl_earliest_cert_expiry', 'probe_success', 'oauth_console_admins'];

const labelsOf = ({ selectors }: Parsed): Set<string> =>
  new Set([...OF_TARGET, ...selectors.flatMap(({ metric }) => [...(metrics.get(metric)?.keys() ?? [])])]);

describe('the queries of the alerts and the dashboard', () => {
  it('exist in both files', () => {
    expect(rules.length).toBeGreaterThan(10);
    expect(queries.length).toBeGreaterThan(rules.length + 15);
  });

  it('are valid PromQL', () => {
    const wrong = queries.filter(({ expr }) => parsed(expr).errors.length > 0);
    expect(wrong.map(({ where }) => where)).toEqual([]);
  });

  it('use only metrics that the apps or the blackbox exporter export', () => {
    const referenced = queries.flatMap(({ where, expr }) =>
      parsed(expr).selectors.map(({ metric }) => [where, metric] as const),
    );
    expect(referenced.length).toBeGreaterThanOrEqual(queries.length);
    const unknown = referenced.filter(([, metric]) => !metrics.has(metric) && !OF_OTHERS.includes(metric));
    expect(unknown).toEqual([]);
  });

  it('use only labels that the metrics have', () => {
    const unknown = queries.flatMap(({ where, expr, named }) => {
      const query = parsed(expr);
      const known = labelsOf(query);
      const used = [
        ...query.grouping,
        ...named,
        ...query.selectors.flatMap(({ matchers }) => matchers.map(({ label }) => label)),
      ];
      return used.filter((label) => !known.has(label)).map((label) => [where, label]);
    });
    expect(unknown).toEqual([]);
  });

  it('select only existing transitions and services', () => {
    const closed = ['transition', 'service'];
    const matchers = queries.flatMap(({ expr }) =>
      parsed(expr).selectors.flatMap(({ metric, matchers: all }) =>
        all.map((matcher) => ({ ...matcher, metric })),
      ),
    );
    const words = matchers
      .filter(({ label, value }) => closed.includes(label) && value !== '.*')
      .flatMap(({ metric, label, value }) => value.split('|').map((word) => [metric, label, word] as const));
    expect(words.length).toBeGreaterThan(10);
    const notStarted = ['console', 'developers'];
    const unknown = words.filter(
      ([metric, label, word]) => !notStarted.includes(word) && !metrics.get(metric)?.get(label)?.has(word),
    );
    expect(unknown).toEqual([]);
  });
});

it('every alert fires for the installation that is wrong, and for no other', async () => {
  const { command, libraryPath } = await findTool('promtool');
  const folder = await mkdtemp(join(tmpdir(), 'alerts-'));
  try {
    const { spec } = parse(await readFile(`${FOLDER}/alerts.yaml`, 'utf8')) as { spec: object };
    await writeFile(join(folder, 'rules.yaml'), stringify(spec));
    await copyFile(`${FOLDER}/alerts.test.yaml`, join(folder, 'alerts.test.yaml'));
    const env = serverEnvironment(libraryPath);
    const tested = await runCommand(command, ['test', 'rules', join(folder, 'alerts.test.yaml')], { env });
    expect(tested).toMatchObject({ code: 0 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

it('every alert has a summary and a description', () => {
  for (const { annotations } of rules) {
    expect(annotations['summary']).toMatch(/\w/);
    expect(annotations['description']?.length).toBeGreaterThan(40);
  }
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

it('the probes request public paths, so that their failure is an outage', async () => {
  const { metadata, spec } = parse(await readFile(`${FOLDER}/probe.yaml`, 'utf8')) as {
    metadata: object;
    spec: { targets: { staticConfig: { static: string[] } } };
  };
  // The operator derives the label `job` from the name: probe/NAMESPACE/scheduling-oauth.
  expect(metadata).toEqual({ name: 'scheduling-oauth' });
  const urls = spec.targets.staticConfig.static.map((url) => new URL(url));
  expect(urls.map(({ pathname }) => pathname)).toEqual([
    ENDPOINTS.login,
    ENDPOINTS.authorizationServerMetadata,
    ENDPOINTS.protectedResourceMetadata,
  ]);
  expect(new Set(urls.map(({ host }) => host)).size).toBe(3);
});

it('the monitoring manifests contain the dashboard, the rules and the scrape targets', async () => {
  const manifests = await render('monitoring');
  expect(manifests.map(({ kind }) => kind).sort()).toEqual(['ConfigMap', 'PodMonitor', 'PrometheusRule']);
  const config = manifests.find(({ kind }) => kind === 'ConfigMap') as (typeof manifests)[0] & {
    data: Record<string, string>;
  };
  expect(config.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
  expect(JSON.parse(config.data['dashboard.json'] ?? '')).toMatchObject({ uid: 'scheduling-oauth' });
});
