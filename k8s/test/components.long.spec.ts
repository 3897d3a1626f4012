import { DevelopersConfiguration } from '../../apps/developers/src/developers.configuration.js';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { OutsideHosts } from '#platform/http/outside-hosts.js';
import { AuthorizeConfiguration } from '../../apps/authorize/src/configuration/authorize.configuration.js';
import { passes, podsOf } from './connections.js';
import { containersOf, find, workloads } from './manifests.js';
import { type Manifest, OVERLAYS, render } from './render.js';
import { problemsOf } from './schema.js';
import { SECRETS } from './settings.js';

function renderWith(overlay: (typeof OVERLAYS)[number], component: string): Promise<Manifest[]> {
  const path = `overlays/${overlay}`;
  return render(path, async (folder) => {
    const file = join(folder, path, 'kustomization.yaml');
    const text = await readFile(file, 'utf8');
    const last = /\ncomponents:\n(?: {2}- .*\n)+/;
    await writeFile(file, text.replace(last, `$&  - ../../components/${component}\n`));
  });
}

describe.each(OVERLAYS)('the %s overlay with the component for a product', (overlay) => {
  it('mounts the same scopes file into every app and the operator', async () => {
    const manifests = await renderWith(overlay, 'product');
    expect(await problemsOf(manifests)).toEqual([]);
    const readers = workloads(manifests).filter(({ name }) =>
      ['authorize', 'token', 'resource', 'operator', 'console'].includes(name),
    );
    expect(readers).toHaveLength(overlay === 'local' ? 5 : 4);
    const files = readers.map((workload) => {
      const container = containersOf(workload).find(({ name }) => name === workload.name);
      const variable = container?.env?.find(({ name }) => name === 'SCOPES_FILE')?.value ?? '';
      const mount = container?.volumeMounts?.find(({ mountPath }) => variable.startsWith(`${mountPath}/`));
      const volumes = workload.template.spec?.volumes ?? [];
      const map = volumes.find(({ name }) => name === mount?.name)?.configMap?.name ?? '';
      return find(manifests, 'ConfigMap', map).data?.[variable.slice((mount?.mountPath.length ?? 0) + 1)];
    });
    // The file in the component is a copy of the repository's file.
    expect(new Set(files)).toEqual(new Set([await readFile('scopes.yaml', 'utf8')]));
  });
});

describe.each(OVERLAYS)('the %s overlay with the component for a schema', (overlay) => {
  it('sets DATABASE_SCHEMA only for processes with a database', async () => {
    const manifests = await renderWith(overlay, 'database-schema');
    expect(await problemsOf(manifests)).toEqual([]);
    const valuesOf = (variable: string) =>
      workloads(manifests)
        .flatMap(containersOf)
        .flatMap(({ name, env = [] }) =>
          env.filter((setting) => setting.name === variable).map(({ value }) => [name, value] as const),
        );
    const schemas = valuesOf('DATABASE_SCHEMA');
    expect(schemas.map(([name]) => name)).toEqual(valuesOf('DATABASE_URL').map(([name]) => name));
    expect(schemas).toHaveLength(overlay === 'local' ? 8 : 6);
    for (const [, value] of schemas) expect(value).toBe('authorization');
  });
});

describe.each(OVERLAYS)(
  'the %s overlay with the component for applications in a private network',
  (overlay) => {
    it('allows only authorize, console, operator and token to reach the private network', async () => {
      const manifests = await renderWith(overlay, 'private-clients');
      expect(await problemsOf(manifests)).toEqual([]);
      const allowed = workloads(manifests)
        .flatMap(containersOf)
        .flatMap(({ name, env = [] }) =>
          env.filter((setting) => setting.name === 'OUTSIDE_FETCH_ALLOW').map(({ value }) => [name, value]),
        );
      const names = ['authorize', 'operator', 'token'];
      const withConsole = overlay === 'local' ? [...names, 'console'].toSorted() : names;
      expect(allowed.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual(
        withConsole.map((name) => [name, '10.1.0.0/16']),
      );
      expect(new OutsideHosts(allowed[0]?.[1] ?? '').hasAddress('10.1.2.3')).toBe(true);
      const reaching = (address: string) =>
        podsOf(manifests)
          // Excludes the console, because the operators' login provider may have any address.
          .filter(({ name }) => name !== 'console')
          .filter((pod) => passes(manifests, pod, { name: 'an application', address }, 443))
          .map(({ name }) => name);
      expect([reaching('10.1.2.3').toSorted(), reaching('10.2.0.1')]).toEqual([names, []]);
    });
  },
);

describe.each(OVERLAYS)('the %s overlay with the component for a login', (overlay) => {
  it('configures authorize, and allows only authorize to reach the provider', async () => {
    const manifests = await renderWith(overlay, 'login');
    expect(await problemsOf(manifests)).toEqual([]);
    const container = workloads(manifests)
      .flatMap(containersOf)
      .find(({ name }) => name === 'authorize');
    const login = (container?.env ?? []).filter(({ name }) => name.startsWith('LOGIN_'));
    const environment = Object.fromEntries(
      login.map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.secretKeyRef?.key ?? '']),
    );
    expect(() =>
      loadConfiguration(AuthorizeConfiguration, {
        ...SECRETS,
        NODE_ENV: 'production',
        AUTH_URL: 'https://auth.example.com',
        BASE_URL: 'https://oauth.example.com',
        ...environment,
      }),
    ).not.toThrow();
    expect(login.find(({ valueFrom }) => valueFrom !== undefined)?.name).toBe('LOGIN_CLIENT_SECRET');
    const reaching = workloads(manifests).filter(
      ({ template }) => template.metadata?.labels?.['reaches-login'] === 'true',
    );
    expect(reaching.map(({ name }) => name)).toEqual(['authorize']);
    const { spec } = manifests.find(({ metadata }) => metadata?.name === 'to-login') as Manifest & {
      spec: object;
    };
    expect(spec).toMatchObject({ podSelector: { matchLabels: { 'reaches-login': 'true' } } });
  });
});

describe.each(OVERLAYS)('the %s overlay with the component for mail', (overlay) => {
  it('gives the mail server to token only, with the URL from a Secret', async () => {
    const manifests = await renderWith(overlay, 'mail');
    expect(await problemsOf(manifests)).toEqual([]);
    const holders = workloads(manifests)
      .flatMap(containersOf)
      .filter(({ env = [] }) => env.some(({ name }) => name === 'SMTP_URL'));
    expect(holders.map(({ name }) => name)).toEqual(['token']);
    const url = holders[0]?.env?.find(({ name }) => name === 'SMTP_URL');
    expect(url?.valueFrom?.secretKeyRef).toEqual({ name: 'token-mail', key: 'SMTP_URL' });
    const server = { name: 'the mail server', address: '93.184.215.14' };
    const reaching = podsOf(manifests).filter((pod) => passes(manifests, pod, server, 587));
    expect(reaching.map(({ name }) => name)).toEqual(['token']);
  });
});

describe.each(OVERLAYS)('the %s overlay with the component for the doctor', (overlay) => {
  it('allows only the operator to reach the public addresses', async () => {
    const manifests = await renderWith(overlay, 'doctor');
    expect(await problemsOf(manifests)).toEqual([]);
    const reaching = workloads(manifests).filter(
      ({ template }) => template.metadata?.labels?.['reaches-addresses'] === 'true',
    );
    expect(reaching.map(({ name }) => name)).toEqual(['operator']);
    const policy = manifests.find(({ metadata }) => metadata?.name === 'to-addresses');
    expect(policy).toMatchObject({ spec: { podSelector: { matchLabels: { 'reaches-addresses': 'true' } } } });
  });
});

/** Renders the production overlay with a component and an address. */
function productionWith(component: string, literal: string) {
  const path = 'overlays/production';
  return render(path, async (folder) => {
    const file = join(folder, path, 'kustomization.yaml');
    const text = await readFile(file, 'utf8');
    await writeFile(
      file,
      text
        .replace('\ncomponents:\n', `$&  - ../../components/${component}\n`)
        .replace('    literals:\n', `$&      - ${literal}\n`),
    );
  });
}

describe('the production overlay with the component for the console', () => {
  it('takes the host of the Ingress from CONSOLE_URL, and passes the URL to console, operator and token', async () => {
    const url = 'https://console.example.org';
    const manifests = await productionWith('console', `CONSOLE_URL=${url}`);
    expect(await problemsOf(manifests)).toEqual([]);
    expect(find(manifests, 'Ingress', 'console').spec?.rules?.[0]?.host).toBe('console.example.org');
    expect(find(manifests, 'ConfigMap', 'addresses').data?.['CONSOLE_URL']).toBe(url);
    const holders = workloads(manifests)
      .flatMap(containersOf)
      .filter(({ env = [] }) => env.some(({ name }) => name === 'CONSOLE_URL'));
    expect(holders.map(({ name }) => name).sort()).toEqual(['console', 'operator', 'token']);
    expect(find(manifests, 'PodDisruptionBudget', 'console').spec?.minAvailable).toBe(1);
    expect(find(manifests, 'Deployment', 'console').spec?.replicas).toBe(2);
  });
});

describe('the production overlay with the component for the portal', () => {
  it('takes the host of the public Ingress from DEVELOPERS_URL, and lets no other process read the secrets of the portal', async () => {
    const url = 'https://developers.example.org';
    const manifests = await productionWith('developers', `DEVELOPERS_URL=${url}`);
    expect(await problemsOf(manifests)).toEqual([]);
    const { spec } = find(manifests, 'Ingress', 'developers');
    expect(spec?.ingressClassName).toBe('nginx');
    expect(spec?.rules?.[0]?.host).toBe('developers.example.org');
    const holders = workloads(manifests)
      .flatMap(containersOf)
      .filter(({ env = [] }) => env.some(({ name }) => name.startsWith('DEVELOPERS_CLIENT_')));
    expect(holders.map(({ name }) => name)).toEqual(['developers']);
    const names = Object.keys(new DevelopersConfiguration());
    for (const { name } of holders[0]?.env ?? []) expect(names).toContain(name);
    expect(find(manifests, 'PodDisruptionBudget', 'developers').spec?.minAvailable).toBe(1);
  });
});
