import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { V1CronJob } from '@kubernetes/client-node';
import { parse, parseAllDocuments } from 'yaml';
import { findServers, machineLookup } from '#local/servers/find-server.js';
import { runCommand } from '#local/servers/run-command.js';
import { KeyRing } from '#keys/key-ring.js';
import { PUBLIC_PATHS } from '#oauth/endpoints.js';
import { isolate } from '#test/support/isolate.js';
import { emptyDatabase } from '#test/support/test-database.js';
import { testServices } from '#test/support/test-services.js';
import { passes, type Peer, podsOf } from './connections.js';
import { all, containersOf, find, workloads } from './manifests.js';
import { type Manifest, OVERLAYS, render } from './render.js';
import { problemsOf } from './schema.js';
import { ROOT } from './settings.js';

const withComponent = new Map<string, Promise<Manifest[]>>();

function renderWith(overlay: (typeof OVERLAYS)[number], component: string): Promise<Manifest[]> {
  const path = `overlays/${overlay}`;
  const key = `${path} ${component}`;
  const rendered =
    withComponent.get(key) ??
    render(path, async (folder) => {
      const file = join(folder, path, 'kustomization.yaml');
      const text = await readFile(file, 'utf8');
      const last = /\ncomponents:\n(?: {2}- .*\n)+/;
      await writeFile(file, text.replace(last, `$&  - ../../components/${component}\n`));
    });
  withComponent.set(key, rendered);
  return rendered;
}

const PORTAL_URL = 'https://developers.example.org';
const renderPortal = (...components: readonly string[]): Promise<Manifest[]> =>
  render('overlays/production', async (folder) => {
    const file = join(folder, 'overlays/production/kustomization.yaml');
    const text = await readFile(file, 'utf8');
    const added = ['developers', ...components].map((name) => `  - ../../components/${name}\n`).join('');
    await writeFile(
      file,
      text
        .replace(/\ncomponents:\n(?: {2}- .*\n)+/, `$&${added}`)
        .replace('    literals:\n', `$&      - DEVELOPERS_URL=${PORTAL_URL}\n`),
    );
  });

interface Route {
  readonly hostnames: readonly string[];
  readonly rules: readonly {
    readonly matches: readonly { readonly path: { readonly type: string; readonly value: string } }[];
    readonly backendRefs: readonly { readonly name: string; readonly port: number }[];
  }[];
}

describe.each(OVERLAYS)('the %s overlay with the component for the Gateway API', (overlay) => {
  let manifests: Manifest[];
  let before: Manifest[];
  beforeAll(async () => {
    [manifests, before] = await Promise.all([renderWith(overlay, 'gateway'), render(`overlays/${overlay}`)]);
  });

  it.each(['authorize', 'token', 'resource'] as const)(
    'routes what the Ingress of %s routes',
    async (app) => {
      const route = manifests.find(({ kind, metadata }) => kind === 'HTTPRoute' && metadata.name === app);
      const { hostnames, rules } = (route as Manifest & { spec: Route }).spec;
      const [rule, ...others] = rules;
      expect(others).toEqual([]);
      expect(rule?.backendRefs).toEqual([{ name: app, port: 80 }]);
      expect(find(manifests, 'Service', app).spec?.ports?.map(({ port }) => port)).toEqual([80]);
      const [ingress] = find(before, 'Ingress', app).spec?.rules ?? [];
      expect(hostnames).toEqual([ingress?.host]);
      const paths = rule?.matches.map(({ path }) => path) ?? [];
      expect(paths.map(({ type, value }) => [value, type.replace(/^Path/, '')])).toEqual(
        ingress?.http?.paths.map(({ path, pathType }) => [path, pathType]),
      );
      const isRouted = (asked: string) =>
        paths.some(
          ({ type, value }) => asked === value || (type === 'PathPrefix' && asked.startsWith(`${value}/`)),
        );
      expect(PUBLIC_PATHS[app].filter((path) => !isRouted(path))).toEqual([]);
    },
  );

  it('has no public Ingress, and lets only pods of the Gateway reach the apps', () => {
    const left = all(manifests, 'Ingress').map(({ metadata }) => metadata?.name);
    expect(left).toEqual(overlay === 'local' ? ['console'] : []);
    const gateway: Peer = { name: 'gateway', namespace: 'gateway', labels: {} };
    const nginx: Peer = {
      name: 'ingress',
      namespace: 'nginx-ingress',
      labels: { 'app.kubernetes.io/name': 'nginx-ingress' },
    };
    for (const [app, port] of Object.entries({ authorize: 3001, token: 3002, resource: 3003 })) {
      const pod = podsOf(manifests).find(({ name }) => name === app) as Peer;
      expect([app, passes(manifests, gateway, pod, port)]).toEqual([app, true]);
      expect([app, passes(manifests, nginx, pod, port)]).toEqual([app, false]);
    }
  });
});

describe('the production overlay with the portal', () => {
  it('has a route of the Gateway API for the portal with gateway-developers', async () => {
    const manifests = await renderPortal('gateway', 'gateway-developers');
    expect(all(manifests, 'Ingress')).toEqual([]);
    const route = manifests.find(
      ({ kind, metadata }) => kind === 'HTTPRoute' && metadata.name === 'developers',
    );
    const { hostnames, rules } = (route as Manifest & { spec: Route }).spec;
    expect(hostnames).toEqual([new URL(PORTAL_URL).host]);
    expect(rules).toMatchObject([
      {
        matches: [{ path: { type: 'PathPrefix', value: '/' } }],
        backendRefs: [{ name: 'developers', port: 80 }],
      },
    ]);
    const portal = podsOf(manifests).find(({ name }) => name === 'developers') as Peer;
    const gateway: Peer = { name: 'gateway', namespace: 'gateway', labels: {} };
    expect(passes(manifests, gateway, portal, 3005)).toBe(true);
    expect(passes(manifests, { ...gateway, namespace: 'nginx-ingress' }, portal, 3005)).toBe(false);
  });

  it('limits requests of every public Ingress by client network, and names the product in every process', async () => {
    const manifests = await renderPortal('client-networks', 'product');
    const keys = all(manifests, 'Ingress').map(
      ({ metadata }) => metadata?.annotations?.['nginx.org/limit-req-key'],
    );
    expect(keys).toEqual(Array(4).fill('${client_network}'));
    const named = workloads(manifests)
      .flatMap(containersOf)
      .filter(({ env = [] }) => env.some(({ name }) => name === 'PRODUCT_NAME'));
    expect(named.map(({ name }) => name).toSorted()).toEqual([
      'authorize',
      'developers',
      'operator',
      'resource',
      'token',
    ]);
  });
});

describe.each(OVERLAYS)('the %s overlay with the component for Reloader', (overlay) => {
  it('restarts every Deployment that reads a Secret, and names every ConfigMap after its content', async () => {
    const manifests = await renderWith(overlay, 'restart-on-change');
    expect(await problemsOf(manifests)).toEqual([]);
    const readers = workloads(manifests).filter(
      (workload) =>
        workload.kind === 'Deployment' &&
        containersOf(workload).some(({ env = [] }) => env.some(({ valueFrom }) => valueFrom?.secretKeyRef)),
    );
    expect(readers.length).toBeGreaterThan(3);
    for (const { name } of readers)
      expect(find(manifests, 'Deployment', name).metadata?.annotations).toEqual({
        'reloader.stakater.com/auto': 'true',
      });
    for (const workload of workloads(manifests)) {
      const variables = containersOf(workload).flatMap(({ env = [] }) => env);
      const maps = [
        ...variables.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
        ...(workload.template.spec?.volumes ?? []).map(({ configMap }) => configMap?.name),
      ].filter((name) => name !== undefined);
      for (const map of maps) expect(map).toMatch(/-[a-z0-9]{10}$/);
    }
  });
});

describe.each(OVERLAYS)('the %s overlay with the component for backups', (overlay) => {
  let manifests: Manifest[];
  let job: V1CronJob;
  beforeAll(async () => {
    manifests = await renderWith(overlay, 'backup');
    job = manifests.find(({ kind }) => kind === 'CronJob') as V1CronJob;
  });

  it('is valid, and hardened as every pod', async () => {
    expect(await problemsOf(manifests)).toEqual([]);
    const { spec } = job.spec?.jobTemplate.spec?.template ?? {};
    expect(spec?.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(spec?.automountServiceAccountToken).toBe(false);
    expect(spec?.containers[0]?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const secret = spec?.containers[0]?.env?.[0]?.valueFrom?.secretKeyRef;
    const [migration] = find(manifests, 'Job', 'migrate').spec?.template.spec?.containers ?? [];
    expect(secret).toEqual(
      migration?.env?.find(({ name }) => name === 'DATABASE_URL')?.valueFrom?.secretKeyRef,
    );
  });

  it('reaches PostgreSQL and DNS, and nothing else', () => {
    const { labels = {} } = job.spec?.jobTemplate.spec?.template.metadata ?? {};
    const backup: Peer = { name: 'backup', namespace: 'scheduling-oauth', labels };
    const pods = podsOf(manifests);
    const postgres =
      overlay === 'local'
        ? (pods.find(({ name }) => name === 'postgres') as Peer)
        : { name: 'postgres', address: '10.20.0.5' };
    const dns: Peer = { name: 'dns', namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };
    expect(passes(manifests, backup, postgres, 5432)).toBe(true);
    expect(passes(manifests, backup, dns, 53, 'UDP')).toBe(true);
    const others: Peer[] = [
      { name: 'internet', address: '93.184.215.14' },
      ...pods.filter((pod) => pod !== postgres),
    ];
    for (const other of others)
      for (const port of [443, 3002, 4222, 6379]) expect(passes(manifests, backup, other, port)).toBe(false);
  });
});

describe('the script of the backup', () => {
  let folder: string;
  let script: string;
  let path: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backup-'));
    const manifests = await renderWith('production', 'backup');
    const job = manifests.find(({ kind }) => kind === 'CronJob') as V1CronJob;
    const [container] = job.spec?.jobTemplate.spec?.template.spec?.containers ?? [];
    script = (container?.command?.[2] ?? '').replaceAll('/backup', folder);
    const [server] = await findServers('postgres', machineLookup(process.env), undefined);
    path = [dirname(server?.command ?? ''), process.env['PATH']].join(delimiter);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const run = (DATABASE_URL: string) =>
    runCommand('sh', ['-euc', script], { env: { PATH: path, DATABASE_URL } });

  it('makes dumps that can be restored to an empty database and over the same one, and none if PostgreSQL does not answer', async () => {
    const services = await isolate();
    const empty = await emptyDatabase(testServices());
    try {
      expect(await run(services.databaseUrl)).toMatchObject({ code: 0, stderr: '' });
      const page = await readFile(join(ROOT, 'docs/deploy.md'), 'utf8');
      const [name = ''] = await readdir(folder);
      const restore = (url: string, pattern: RegExp) => {
        const [, options = ''] = pattern.exec(page) ?? [];
        const args = [`--dbname=${url}`, '--no-owner', ...options.split(' '), join(folder, name)];
        return runCommand('pg_restore', args, { env: { PATH: path } });
      };
      const restored = { code: 0, stderr: '' };
      expect(await restore(empty.url, /--dbname=restored (.*) --no-owner/)).toMatchObject(restored);
      const over = /--dbname="\$PGDATABASE" (.*) --no-owner/;
      expect(await restore(services.databaseUrl, over)).toMatchObject(restored);
    } finally {
      await Promise.all([services.close(), empty.drop()]);
    }
    const [dump = '', ...others] = await readdir(folder);
    expect(others).toEqual([]);
    expect(dump).toMatch(/^oauth-\d{8}T\d{6}Z\.dump$/);
    const { stdout } = await runCommand('pg_restore', ['--list', join(folder, dump)], {
      env: { PATH: path },
    });
    for (const table of ['clients', 'users', 'grants', 'token_keys'])
      expect(stdout).toMatch(new RegExp(`TABLE DATA oauth ${table} `));
    expect((await run('postgres://nobody@127.0.0.1:1/nowhere')).code).not.toBe(0);
    expect((await readdir(folder)).filter((name) => name.endsWith('.dump'))).toEqual([dump]);
  });
});

describe('the commands of docs/deploy.md that create the Secrets of production', () => {
  it('create every Secret and key that the pods require, with valid token keys', async () => {
    const page = await readFile(join(ROOT, 'docs/deploy.md'), 'utf8');
    const blocks = [...page.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, text]) => text);
    expect(blocks).toHaveLength(3);
    const commands = blocks.join('');
    const folder = await mkdtemp(join(tmpdir(), 'secrets-'));
    try {
      await writeFile(join(folder, 'kubectl'), '#!/bin/sh\necho "$*" >>kubectl.log\n', { mode: 0o755 });
      const env = { PATH: [folder, process.env['PATH']].join(delimiter), COMMANDS: commands };
      const typed = await runCommand('bash', ['-c', 'yes typed | bash -euc "$COMMANDS"'], {
        cwd: folder,
        env,
      });
      expect(typed).toMatchObject({ code: 0, stderr: '' });
      const created = await readFile(join(folder, 'kubectl.log'), 'utf8');
      const keysOf = async (secret: string): Promise<string[]> => {
        expect(created).toContain(` create secret generic ${secret} --from-file=secrets/${secret}\n`);
        return readdir(join(folder, 'secrets', secret));
      };
      const required = workloads(await renderPortal())
        .flatMap(containersOf)
        .flatMap(({ env: variables = [] }) => variables)
        .flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])
        .filter(({ optional }) => optional !== true);
      expect(required.length).toBeGreaterThan(10);
      for (const { name = '', key } of required) {
        expect([name, await keysOf(name)]).toEqual([name, expect.arrayContaining([key])]);
        const value = await readFile(join(folder, 'secrets', name, key), 'utf8');
        if (key !== 'TOKEN_KEYS') expect([name, key, value]).toEqual([name, key, 'typed']);
      }
      expect(await keysOf('token-mail')).toEqual(['SMTP_URL']);
      const keys = await readFile(join(folder, 'secrets/token-keys/TOKEN_KEYS'), 'utf8');
      expect(KeyRing.parse(keys).keys).toHaveLength(1);
      expect(created).toContain(' create secret tls tls ');
      expect(created).toContain(' create secret tls developers-tls ');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('the migration', () => {
  it.each(OVERLAYS)('of the %s overlay needs no Job to be deleted by Argo CD or Flux', async (overlay) => {
    expect(find(await render(`overlays/${overlay}`), 'Job', 'migrate').metadata?.annotations).toEqual({
      'argocd.argoproj.io/hook': 'Sync',
      'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
      'kustomize.toolkit.fluxcd.io/force': 'enabled',
    });
  });

  it('is in the examples for Argo CD and Flux, which deploy the production overlay', async () => {
    const read = (name: string) => readFile(join(ROOT, 'k8s/gitops', name), 'utf8');
    const application = parse(await read('argocd.yaml')) as { spec: { source: { path: string } } };
    const kustomization = parseAllDocuments(await read('flux.yaml'))
      .at(-1)
      ?.toJS() as {
      spec: { path: string; wait: boolean };
    };
    expect(application.spec.source.path).toBe('k8s/overlays/production');
    expect(kustomization.spec).toMatchObject({ path: './k8s/overlays/production', wait: true });
  });

  it('keeps three copies of the audit trail in the NATS cluster of production, as doctor expects', async () => {
    const replicas = workloads(await render('overlays/production'))
      .flatMap(containersOf)
      .flatMap(({ name, env = [] }) =>
        env.filter((variable) => variable.name === 'AUDIT_REPLICAS').map(({ value }) => [name, value]),
      );
    expect(Object.fromEntries(replicas)).toEqual({ migrate: '3', operator: '3' });
  });
});
