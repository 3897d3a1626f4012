import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { type ProductProcesses, startProcesses } from './started-product.js';
import { attributesOf, type CollectedSpan, TraceCollector } from './trace-collector.js';
import { ProductUser } from './running-product.js';

/** Records the CommonJS modules that each app has loaded when it receives SIGTERM. */
class LoadedModules {
  private constructor(
    private readonly folder: string,
    private readonly probe: string,
  ) {}

  static async begin(): Promise<LoadedModules> {
    const folder = await mkdtemp(join(tmpdir(), 'modules-'));
    const probe = join(folder, 'probe.cjs');
    // Writes a list at SIGTERM, in processes of apps only.
    const script = `
      const write = () => require('node:fs').writeFileSync(
        ${JSON.stringify(join(folder, 'list.json'))} + process.pid, JSON.stringify(Object.keys(require.cache)));
      if (/dist.apps/.test(process.argv[1])) process.on('SIGTERM', write);`;
    await writeFile(probe, script);
    return new LoadedModules(folder, probe);
  }

  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--require=${this.probe}` };
  }

  /** Returns the modules and deletes the lists. Must be called after the apps have ended. */
  async end(): Promise<string[]> {
    const lists = (await readdir(this.folder)).filter((name) => name.startsWith('list'));
    const texts = await Promise.all(lists.map((name) => readFile(join(this.folder, name), 'utf8')));
    await rm(this.folder, { recursive: true });
    return texts.flatMap((text) => JSON.parse(text) as string[]);
  }
}

const ofOpenTelemetry = (modules: string[]) => modules.filter((path) => path.includes('@opentelemetry'));
const CALLER = '0af7651916cd43dd8448eb211c80319c';
const CALLER_SPAN = 'b7ad6b7169203331';
const COLLECTOR_KEY = 'key-of-the-collector';
/** Timeout for hanging requests. */
const PATIENCE_MS = 60_000;

describe('traces with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  let collector: TraceCollector;
  let product: ProductProcesses;
  let modules: LoadedModules;
  let user: ProductUser;
  let spans: CollectedSpan[];

  beforeAll(async () => {
    collector = await TraceCollector.start();
    modules = await LoadedModules.begin();
    product = await startProcesses({
      ...modules.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${COLLECTOR_KEY}`,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      // Longer than the grace period, after which an app is killed.
      OTEL_EXPORTER_OTLP_TIMEOUT: '120000',
      LOG_LEVEL: 'info',
    });
    user = new ProductUser(product.run);
    const { body } = await user.redeem(await user.code());
    const headers = { traceparent: `00-${CALLER}-${CALLER_SPAN}-01`, tracestate: 'vendor=free-text' };
    expect((await user.me(body['access_token'], headers)).status).toBe(200);
    await user.me(body['access_token']);
    await until('the last request has arrived', PATIENCE_MS, () => collector.spans.filter(isMe).length === 2);
    await until('its answers have arrived', PATIENCE_MS, () => processed(collector.spans).length === 2);
    await until('the pages have arrived', PATIENCE_MS, () => collector.spans.some(isLogin));
    const first = collector.spans.find((span) => isMe(span) && span.links?.length === 1);
    spans = collector.spans.filter(({ traceId }) => traceId === first?.traceId);
  });

  afterAll(async () => {
    await product?.close();
    collector?.close();
  });

  const isMe = (span: CollectedSpan) => span.name === 'GET /v2/me';
  const isLogin = (span: CollectedSpan) => span.name === 'POST /auth/login';
  const processed = (all: readonly CollectedSpan[]) => all.filter(({ name }) => name.startsWith('process '));
  const parentOf = (span: CollectedSpan) => spans.find(({ spanId }) => spanId === span.parentSpanId);
  const pathTo = (span: CollectedSpan | undefined): string[] =>
    span ? [...pathTo(parentOf(span)), `${span.service}: ${span.name}`] : [];

  it('follow GET /v2/me over HTTP and NATS to Redis and PostgreSQL', () => {
    const paths = spans.map(pathTo);
    const me = 'resource: GET /v2/me';
    const introspect = 'oauth.token.introspect';
    const profile = 'oauth.user.profile';
    expect(paths).toContainEqual([
      me,
      `resource: request ${introspect}`,
      `token: process ${introspect}`,
      'token: EVAL',
    ]);
    expect(paths).toContainEqual([
      me,
      `resource: request ${profile}`,
      `token: process ${profile}`,
      'token: SELECT users',
    ]);
    for (const path of paths) expect(path[0]).toBe(me);
  });

  it('contain one span and no call to another service for a cached token', () => {
    const second = collector.spans.find((span) => isMe(span) && !spans.includes(span));
    expect(collector.spans.filter(({ traceId }) => traceId === second?.traceId)).toEqual([second]);
  });

  it('link the caller’s trace without joining it', () => {
    const [me] = spans.filter(isMe);
    expect(me?.links).toEqual([expect.objectContaining({ traceId: CALLER, spanId: CALLER_SPAN })]);
    expect(me?.traceId).not.toBe(CALLER);
    expect(collector.spans.filter(({ traceId }) => traceId === CALLER)).toEqual([]);
  });

  it('do not contain text from the caller such as tracestate', () => {
    expect(collector.texts.join('\n')).toContain(CALLER);
    expect(collector.texts.join('\n')).not.toMatch(/free-text|tracestate/i);
  });

  it('follow a code exchange to Redis', () => {
    const exchange = collector.spans.find(({ name }) => name === 'POST /api/auth/oauth/token');
    const children = collector.spans.filter(({ parentSpanId }) => parentSpanId === exchange?.spanId);
    expect(children.map(({ name }) => name)).toContain('EVAL');
  });

  it('follow pages to PostgreSQL and Redis', () => {
    const login = collector.spans.find(isLogin);
    const children = collector.spans.filter(({ parentSpanId }) => parentSpanId === login?.spanId);
    expect(children.map(({ name }) => name)).toEqual(expect.arrayContaining(['WITH users', 'SET']));
  });

  it('describe each call and its result', () => {
    const [me] = spans.filter(isMe);
    expect(attributesOf(me as CollectedSpan)).toEqual({
      'http.request.method': 'GET',
      'http.route': '/v2/me',
      'http.response.status_code': 200,
      reference: expect.stringMatching(/^[\w-]{12}$/),
    });
    const statement = spans.find(({ name }) => name === 'SELECT users');
    expect(attributesOf(statement as CollectedSpan)).toEqual({
      'db.system.name': 'postgresql',
      'db.operation.name': 'SELECT',
      'db.collection.name': 'users',
    });
  });

  it('contain no credential, SQL text, parameter, Redis key, query, client or grant', async () => {
    const grants = await withDatabase(product.databaseUrl, (admin) =>
      admin.query<{ id: string }>('SELECT id FROM grants'),
    );
    const text = collector.texts.join('\n');
    expect(user.seen.size).toBeGreaterThan(8);
    for (const secret of [...user.seen, ...grants.rows.map(({ id }) => id)])
      expect(text).not.toContain(secret);
    expect(text).not.toMatch(/grant:|session:|\bWHERE\b|\$1|\?|code=|client_id/);
  });

  it('are named by the trace_id in the log line of the request', () => {
    const [me] = spans.filter(isMe);
    const lines = product.apps.resource.output().split('\n');
    const line = lines.find((text) => text.includes(String(attributesOf(me as CollectedSpan)['reference'])));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ trace_id: me?.traceId, msg: 'answered' });
  });

  it('have a rejection by the collector logged with its status, not its text, which may contain the key', async () => {
    const logged = () =>
      product.apps.resource
        .output()
        .split('\n')
        .filter((line) => line.includes('"context":"Tracing"'));
    collector.refuses = true;
    await user.me('no token');
    await until('the refusal is logged', PATIENCE_MS, () => logged().length > 0);
    collector.refuses = false;
    expect(logged().join('\n')).toContain('401');
    expect(logged().join('\n')).not.toMatch(/x-api-key|user-agent/i);
    for (const app of Object.values(product.apps)) expect(app.output()).not.toContain(COLLECTOR_KEY);
  });

  it('delay neither requests nor the shutdown if the collector is unavailable', async () => {
    collector.close();
    const { body } = await user.redeem(await user.code());
    expect((await user.me(body['access_token'])).status).toBe(200);
    await product.close();
    // A process that does not end in time is killed.
    const ends = Object.values(product.apps).map((app) => app.process.ended);
    expect(await Promise.all(ends)).toEqual(['exit code 0', 'exit code 0', 'exit code 0']);
    expect(ofOpenTelemetry(await modules.end()).join()).toContain('exporter-trace-otlp-http');
  });
});

describe('a product without a configured collector', () => {
  it.each<[string, Record<string, string>]>([
    ['loads no module of OpenTelemetry', {}],
    [
      'loads no module of OpenTelemetry with OTEL_TRACES_EXPORTER=none',
      { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
    ],
  ])('%s', async (_rule, env) => {
    const modules = await LoadedModules.begin();
    const product = await startProcesses({ ...env, ...modules.env, LOG_LEVEL: 'fatal' });
    await new ProductUser(product.run).code();
    await product.close();
    const loaded = await modules.end();
    expect(loaded.filter((path) => path.endsWith('.cjs') && path.includes('/dist/apps/')).length).toBe(3);
    // The bundle does not contain the packages for tracing (build.mjs).
    expect(ofOpenTelemetry(loaded)).toEqual([]);
  });
});
