import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { runOperator } from '../../apps/operator/test/support/run-operator.js';
import { freePort } from '#local/servers/free-port.js';
import { type AppProcess, startApp } from '#test/support/app-process.js';
import { launchBrowser } from '#test/support/chromium.js';
import { startControllerOf } from './ingress.js';
import { containersOf, environmentOf, find, workloads } from './manifests.js';
import type { Ingress } from './nginx.js';
import { localInstallation, type Manifest } from './render.js';
import { type Process, type Servers, startServers } from './servers.js';

const APPS = ['authorize', 'token', 'resource', 'console'] as const;
const PASSWORD = 'correct horse battery staple';

/** Connects to the hosts of `hostAliases` through the ingress, and fails for every other host, as in a pod. */
const POD_NETWORK = `
import net from 'node:net';
const ports = JSON.parse(process.env.POD_HOSTS);
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const isNormalized = Array.isArray(args[0]);
  const options = isNormalized ? args[0][0] : args[0];
  const { host = '' } = options ?? {};
  if (!host.endsWith('.localhost')) return connect.apply(this, args);
  const port = Number(options.port) === 443 ? ports[host] : undefined;
  const lookup = (name, _, done) => done(Object.assign(new Error('ENOTFOUND ' + name), { code: 'ENOTFOUND' }));
  const to = { ...options, ...(port ? { host: '127.0.0.1', port } : { lookup }) };
  return isNormalized ? (args[0][0] = to, connect.apply(this, args)) : connect.call(this, to, ...args.slice(1));
};
`;

describe('the console of the local overlay', () => {
  let folder: string;
  let manifests: Manifest[];
  let consoleClient: string;
  let servers: Servers;
  let publicController: Ingress;
  let internalController: Ingress;
  let apps: AppProcess[] = [];
  let browser: Browser;

  /** Environment of the rendered container; only the servers are at other addresses. */
  async function environment(name: Process): Promise<Record<string, string>> {
    const workload = workloads(manifests).find((each) => each.name === name);
    const container = workload && containersOf(workload).find((each) => each.name === name);
    if (!workload || !container) throw new Error(`there is no ${name}`);
    const { template } = workload;
    const given = environmentOf(manifests, container);
    const own = await servers.environmentOf(name);
    const moved = Object.keys(given).filter((variable) =>
      /^(AUDIT_)?(DATABASE|REDIS|NATS)_URL$/.test(variable),
    );
    const aliases = (template.spec?.hostAliases ?? []).flatMap(({ hostnames = [] }) => hostnames);
    const hosts = Object.fromEntries(aliases.map((host) => [host, publicController.port]));
    return {
      ...given,
      ...Object.fromEntries(moved.map((variable) => [variable, own[variable] ?? ''])),
      ...(await certificates(given)),
      NODE_OPTIONS: `--import=${pathToFileURL(join(folder, 'pod-network.mjs')).href}`,
      POD_HOSTS: JSON.stringify(hosts),
    };

    /** Writes the mounted file of NODE_EXTRA_CA_CERTS. */
    async function certificates({ NODE_EXTRA_CA_CERTS: path }: Record<string, string>) {
      if (path === undefined) return {};
      const mount = container?.volumeMounts?.find(({ mountPath }) => path.startsWith(`${mountPath}/`));
      const volume = template.spec?.volumes?.find((each) => each.name === mount?.name);
      const data = find(manifests, 'ConfigMap', volume?.configMap?.name ?? '').data ?? {};
      const file = join(folder, `${name}.crt`);
      await writeFile(file, data[path.slice((mount?.mountPath.length ?? 0) + 1)] ?? '');
      return { NODE_EXTRA_CA_CERTS: file };
    }
  }

  async function operator(args: readonly string[], stdin = ''): Promise<void> {
    const outcome = await runOperator(args, await environment('operator'), stdin);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'console-login-'));
    await writeFile(join(folder, 'pod-network.mjs'), POD_NETWORK);
    ({ manifests, consoleClient } = await localInstallation());
    servers = await startServers();
    const ports = Object.fromEntries(await Promise.all(APPS.map(async (app) => [app, await freePort()])));
    const backends = Object.fromEntries(APPS.map((app) => [app, `http://127.0.0.1:${ports[app]}`]));
    publicController = await startControllerOf('nginx', manifests, backends);
    internalController = await startControllerOf('nginx-internal', manifests, backends, {
      'http-snippets': 'set_real_ip_from 127.0.0.1; real_ip_header x-from;',
    });
    const migrated = await runOperator(['migrate'], await environment('migrate'));
    expect(migrated).toMatchObject({ code: 0, stderr: '' });
    apps = await Promise.all(
      APPS.map(async (app) => startApp(app, await environment(app), { port: ports[app] as number })),
    );
    const rules = [
      ...['auth', 'base', 'api'].map(
        (name) => `MAP ${name}.localhost:443 127.0.0.1:${publicController.port}`,
      ),
      `MAP console.localhost:8444 127.0.0.1:${internalController.port}`,
    ];
    browser = await launchBrowser(`--host-resolver-rules=${rules.join(',')}`);
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all(apps.map((app) => app.stop()));
    await Promise.all([publicController?.stop(), internalController?.stop()]);
    await servers?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('lets an operator log in after the commands of docs/deploy.md', async () => {
    await operator(['client', 'import', '-'], consoleClient);
    await operator(
      [
        'user',
        'create',
        '--email',
        'ada@example.com',
        '--username',
        'ada',
        '--name',
        'Ada',
        '--password-stdin',
      ],
      PASSWORD,
    );
    await operator(['console', 'grant', 'ada@example.com', '--role', 'admin']);
    const page = await browser.newPage({
      ignoreHTTPSErrors: true,
      // A network that the Ingress of the console allows.
      extraHTTPHeaders: { 'x-from': '172.18.0.1' },
    });
    await page.goto('https://console.localhost:8444/');

    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL('https://console.localhost:8444/');
    expect(await page.getByRole('navigation').first().textContent()).toContain('Applications');
  });
});
