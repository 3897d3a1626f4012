import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#local/servers/free-port.js';
import { startApp } from '#test/support/app-process.js';
import { Browser } from '#test/support/browser.js';
import { FORGER_CLIENT, startForgingProvider } from '#test/support/forging-provider.js';
import { MAX_LIVE_GRANTS } from '#grants/grant.js';
import { table } from './report.js';
import { benchmark, type Product } from './product.js';
import {
  addRefusals,
  clientId,
  CONTACT,
  fillClients,
  fillTrail,
  fillUser,
  FIRST_USER,
  recordGrants,
  reference,
  type Trail,
} from './console-fill.js';
import { usageOf } from './measure.js';
import { fillCounts, fillOwners, pagesOfPortal, type Site, startPortal } from './portal.js';

interface Options {
  readonly trail: Trail;
  readonly portal: boolean;
  readonly only: string;
  readonly wait: boolean;
}

/** Numbers of requests per page. V8 compiles the code during the warm-up. */
const [WARM, MEASURED] = [5, 40];
/** Rounds per session, because the number of requests per session and minute is limited. */
const ROUNDS_OF_SESSION = 4;
const INDEX_BEHIND = 'does not have all events yet';

async function startConsole({ environment, databaseUrls }: Product): Promise<Site> {
  const provider = await startForgingProvider(await freePort());
  const port = await freePort();
  const app = await startApp(
    'console',
    {
      ...environment,
      DATABASE_URL: databaseUrls.console,
      CONSOLE_URL: `http://127.0.0.1:${port}`,
      CONSOLE_ISSUER: provider.issuer,
      CONSOLE_CLIENT_ID: FORGER_CLIENT.id,
      CONSOLE_CLIENT_SECRET: FORGER_CLIENT.secret,
      CONSOLE_GROUPS_CLAIM: 'groups',
      CONSOLE_ROLES: 'admins=admin',
    },
    { port, patient: false },
  );
  return {
    app,
    async logIn() {
      const browser = new Browser(app.url);
      const claims = { groups: ['admins'], auth_time: Math.floor(Date.now() / 1000) };
      await provider.logIn(browser, { claims }, '/login?page=/');
      return browser;
    },
    async close() {
      await app.stop();
      provider.close();
    },
  };
}

async function pagesOf(
  browser: Browser,
  { clients, users }: Trail,
  newReference: string,
): Promise<Record<string, string>> {
  const linkOf = async (path: string, title: 'Next page' | 'Previous page'): Promise<string> => {
    const { text } = await browser.get(path);
    const [, href] = new RegExp(`href="([^"]*)"\\s*>${title}`).exec(text) ?? [];
    if (href === undefined) throw new Error(`${path} has no link ‹${title}›`);
    return href.replaceAll('&amp;', '&');
  };
  const [busy, other] = [clientId(0), clientId(clients - 1)];
  const [user, oldest] = [FIRST_USER + users - 1, FIRST_USER + 1];
  const [application, job] = [`/applications/${busy}`, `/jobs/new?action=enable-applications&id=${busy}`];
  const confirmation = await browser.get(job);
  const { headers } = await browser.submit(confirmation, {}, '/jobs');
  const lists = {
    applications: '/applications',
    users: '/users',
    'grants of an application': `/grants?client=${busy}`,
    audit: '/audit',
  };
  const neighbours: Record<string, string> = {};
  for (const [name, path] of Object.entries(lists)) {
    const next = await linkOf(path, 'Next page');
    neighbours[`${name}, next page`] = next;
    neighbours[`${name}, next page and back`] = await linkOf(next, 'Previous page');
  }
  return {
    overview: '/',
    ...lists,
    ...neighbours,
    'applications, search by name': `/applications?search=Application+${clients - 1}`,
    'applications, search by contact': `/applications?search=${CONTACT}`,
    'applications, search that matches all': '/applications?search=example.com',
    'applications, search of two characters': '/applications?search=ca',
    'applications, by id': `/applications?search=id:${other}`,
    'applications, nothing found': '/applications?search=nobody',
    'applications, disabled': '/applications?state=disabled',
    'applications, on a server': '/applications?kind=confidential',
    'applications, with a metadata document': '/applications?kind=document',
    'applications, every filter': '/applications?search=application&state=enabled&kind=public',
    'applications, enable all disabled': '/jobs/new?action=enable-applications&state=disabled&all=1',
    application,
    'application, disable': `${application}/disable`,
    'application, edit': `${application}/edit`,
    'application, logo': `${application}/logo`,
    'application, text for the owner': `${application}/handover`,
    'application, consent page': `${application}/consent`,
    'application, consent page in German': `${application}/consent/de`,
    'application, delete': `${application}/delete`,
    'application, new secret': `${application}/secrets/new`,
    'new application': '/applications/new',
    'users, search by e-mail': `/users?search=filled${users}@example.com`,
    'users, search that matches all': '/users?search=example.com',
    'users, search of two characters': '/users?search=lu',
    'users, by id': `/users?search=id:${user}`,
    'users, nothing found': '/users?search=nobody',
    'users, disabled': '/users?state=disabled',
    'users, with a password': '/users?kind=password',
    'users, with a role in the console': '/users?kind=operator',
    user: `/users/${user}`,
    'user with 200 grants': `/users/${oldest}`,
    'user, disable': `/users/${user}/disable`,
    'user, delete': `/users/${user}/delete`,
    grants: '/grants',
    'grants of a user': `/grants?user=id:${user}`,
    operators: '/operators',
    'bulk actions': '/jobs',
    'bulk action, confirmation': job,
    'bulk action': `${headers['location'] ?? ''}?refresh=off`,
    'revoke all grants, confirmation': `/jobs/new?action=revoke-grants&id=client%3D${busy}`,
    'what happened': '/events',
    'what happened, new reference': `/events?reference=${newReference}`,
    'what happened, old reference': `/events?reference=${reference(1)}`,
    'what happened, unknown reference': '/events?reference=unknown-1234',
    'what happened, application, by hour': `/events?client=${busy}&period=23h`,
    'what happened, application, by day': `/events?client=${busy}&period=29d`,
    'what happened, rare application': `/events?client=${other}&period=29d`,
    'what happened, application by name': '/events?client=application+99&period=23h',
    'audit, application': `/audit?client=${busy}`,
    'audit, rare application': `/audit?client=${other}`,
    'audit, user': `/audit?user=id:${user}`,
    'audit, type': '/audit?type=consent.allowed',
    'audit, failed check': '/audit?check=code_expired',
    'audit, old reference': `/audit?reference=${reference(1)}`,
    'audit, unknown grant': `/audit?grant=${'g'.repeat(43)}`,
    'audit, operator': '/audit?operator=nobody',
    'audit, old': `/audit?until=${new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 16)}`,
    requests: '/requests',
    request: await firstLink(browser, '/requests'),
    health: '/health',
    keys: '/health/keys',
  };
}

/** Returns the path of the first request of the queue. */
async function firstLink(browser: Browser, path: string): Promise<string> {
  const { text } = await browser.get(path);
  return new RegExp(`href="(${path}/[^"]+)"`).exec(text)?.[1] ?? path;
}

async function measure(
  site: Site,
  pagesOf: (browser: Browser) => Promise<Record<string, string>>,
  only: string,
): Promise<string> {
  let browser = await site.logIn();
  const all = await pagesOf(browser);
  const pages = Object.fromEntries(Object.entries(all).filter(([name]) => name.includes(only)));
  const times = new Map(Object.keys(pages).map((name): [string, number[]] => [name, []]));
  const memory: string[] = [];
  const note = async (): Promise<void> => {
    const { memory: now } = await usageOf([site.app]);
    memory.push(`${Math.round((now[site.app.name] ?? 0) / 2 ** 20)} MB`);
  };
  for (let round = 0; round < WARM + MEASURED; round++) {
    if (round % ROUNDS_OF_SESSION === 0) browser = await site.logIn();
    if ((round - WARM) % (MEASURED / 4) === 0) await note();
    for (const [name, path] of Object.entries(pages)) {
      const start = performance.now();
      const { status, text } = await browser.get(path);
      if (status !== 200 && !name.includes('unknown'))
        throw new Error(`${name}: ${status} for ${path}: ${text.replaceAll(/<style>[^<]*/g, '')}`);
      if (round >= WARM) times.get(name)?.push(performance.now() - start);
    }
  }
  await note();
  const rows = [...times].map(([name, values]) => {
    const sorted = values.toSorted((a, b) => a - b);
    const at = (part: number) => `${Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? NaN)}`;
    return [name, at(0.5), at(0.95), at(1)];
  });
  const pageTimes = table(['page', 'p50, ms', 'p95, ms', 'maximum, ms'], rows);
  return `${pageTimes}\n\nmemory: ${memory.join(', ')}`;
}

/** Waits until the pages show every event. Tolerates 503, because the console may be busy with its index. */
async function indexed(console: Site): Promise<void> {
  const browser = await console.logIn();
  for (;;) {
    const { status, text } = await browser.get('/audit');
    if (status === 200 && !text.includes(INDEX_BEHIND)) return;
    if (status !== 200 && status !== 503) throw new Error(`/audit: ${status}: ${text}`);
    await sleep(5_000);
  }
}

async function measurePages(product: Product, options: Options): Promise<string> {
  const { trail, portal: isPortalOnly, wait, only } = options;
  await fillClients(product, trail.clients);
  await recordGrants(product, clientId(0), trail.users);
  await fillUser(product, clientId(0), FIRST_USER + 1, MAX_LIVE_GRANTS);
  const portal = await startPortal(product);
  try {
    process.stderr.write('filling owners, changes and refused requests\n');
    await fillOwners(product, trail, portal.userId);
    if (isPortalOnly) {
      await fillCounts(product, trail);
      if (wait) await line();
    }
    const console = isPortalOnly ? '' : await measureConsole(product, options);
    return `${console}${await measure(portal, () => pagesOfPortal(product, portal.userId), only)}`;
  } finally {
    await portal.close();
  }
}

async function measureConsole(product: Product, { trail, wait, only }: Options): Promise<string> {
  await fillTrail(product, trail);
  const console = await startConsole(product);
  try {
    process.stderr.write('the console indexes the events\n');
    const start = performance.now();
    await indexed(console);
    process.stderr.write(`indexed in ${Math.round((performance.now() - start) / 1000)} s\n`);
    await product.fixture.sql('VACUUM ANALYZE audit_chunks, audit_counts');
    if (wait) await line();
    const newReference = await addRefusals(product, trail);
    return `${await measure(console, (browser) => pagesOf(browser, trail, newReference), only)}\n\n`;
  } finally {
    await console.close();
  }
}

/** Waits for a line on standard input. */
async function line(): Promise<void> {
  await once(process.stdin, 'data').finally(() => process.stdin.destroy());
}

export const benchPages = (options: Options): Promise<number> =>
  benchmark((product) => measurePages(product, options));
