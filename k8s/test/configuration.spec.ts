import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1Container } from '@kubernetes/client-node';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { SIGNING_ALGORITHMS, SigningKeys } from '#oauth/openid/signing-keys.js';
import { AuthorizeConfiguration } from '../../apps/authorize/src/authorize.configuration.js';
import {
  ChangeSettings,
  DatabaseSettings,
  DoctorSettings,
  HandoverSettings,
  IssuerSettings,
  MigrateSettings,
  RegistrationSettings,
} from '../../apps/operator/src/settings/settings.js';
import { ConsoleConfiguration } from '../../apps/console/src/console.configuration.js';
import { ResourceConfiguration } from '../../apps/resource/src/resource.configuration.js';
import { TokenConfiguration } from '../../apps/token/src/token.configuration.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS } from '#test/support/id-token-keys.js';
import { OutsideHosts } from '#platform/http/outside-hosts.js';
import { passes, podsOf } from './connections.js';
import { containersOf, one, workloads } from './manifests.js';
import { type Manifest, OVERLAYS, render } from './render.js';
import { problemsOf } from './schema.js';

/** Made-up production secrets. */
const SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://service:secret@db.example.com/oauth',
  REDIS_URL: 'rediss://oauth:secret@redis.example.com:6379',
  NATS_URL: 'tls://token:secret@nats.example.com:4222',
  AUDIT_NATS_URL: 'tls://audit-token:secret@nats.example.com:4222',
  TOKEN_KEYS: 'A'.repeat(43),
  CONSOLE_CLIENT_SECRET: 'A'.repeat(22),
};

/** Returns a value of a production Secret. */
function secretOf(secret: string, key: string): string {
  if (key !== 'ID_TOKEN_KEYS') return SECRETS[key] ?? '';
  return secret === 'id-token-keys' ? ID_TOKEN_KEYS : PUBLIC_ID_TOKEN_KEYS;
}

/** Configuration classes by container name, and variables that Node itself reads. */
const SHAPES: Readonly<Record<string, readonly (new () => object)[]>> = {
  authorize: [AuthorizeConfiguration],
  token: [TokenConfiguration],
  resource: [ResourceConfiguration],
  console: [ConsoleConfiguration],
  operator: [
    DatabaseSettings,
    ChangeSettings,
    IssuerSettings,
    RegistrationSettings,
    HandoverSettings,
    DoctorSettings,
  ],
  migrate: [MigrateSettings],
  migrated: [DatabaseSettings],
};
const READ_BY_ALL = ['NODE_ENV'];

const APPS = ['authorize', 'token', 'resource'];
/** The local overlay has the component `console`. */
const APPS_OF = { local: [...APPS, 'console'], production: APPS };

function renderWith(overlay: (typeof OVERLAYS)[number], component: string): Promise<Manifest[]> {
  const path = `overlays/${overlay}`;
  return render(path, async (folder) => {
    const file = join(folder, path, 'kustomization.yaml');
    const text = await readFile(file, 'utf8');
    const last = /\ncomponents:\n(?: {2}- .*\n)+/;
    await writeFile(file, text.replace(last, `$&  - ../../components/${component}\n`));
  });
}

describe.each(OVERLAYS)('the variables of the %s overlay', (overlay) => {
  let manifests: Manifest[];
  let ours: V1Container[];
  beforeAll(async () => {
    manifests = await render(`overlays/${overlay}`);
    ours = workloads(manifests)
      .flatMap(containersOf)
      .filter(({ image }) => image?.includes('scheduling-oauth'));
  });

  /** Environment as the kubelet builds it: from values, the ConfigMap and the Secrets. Throws for a missing key. */
  function environmentOf({ env = [] }: V1Container): Record<string, string> {
    return Object.fromEntries(
      env.map(({ name, value, valueFrom }) => {
        const { configMapKeyRef: map, secretKeyRef: secret } = valueFrom ?? {};
        if (map) return [name, one(manifests, 'ConfigMap', map.name ?? '').data?.[map.key] ?? ''];
        if (!secret) return [name, value ?? ''];
        if (overlay === 'production') return [name, secretOf(secret.name ?? '', secret.key)];
        const text = one(manifests, 'Secret', secret.name ?? '').data?.[secret.key] ?? '';
        return [name, Buffer.from(text, 'base64').toString()];
      }),
    );
  }

  it('are sufficient and valid for each process', () => {
    for (const container of ours)
      for (const shape of SHAPES[container.name] ?? [])
        expect(() => loadConfiguration(shape, environmentOf(container))).not.toThrow();
  });

  it('are all known to their process', () => {
    for (const container of ours) {
      const shapes = SHAPES[container.name] ?? [];
      expect([container.name, shapes.length > 0]).toEqual([container.name, true]);
      const known = shapes.flatMap((Shape) => Object.keys(new Shape()));
      for (const [name, value] of Object.entries(environmentOf(container))) {
        expect([container.name, ...READ_BY_ALL, ...known]).toContain(name);
        expect([container.name, name, value]).not.toContain('');
      }
    }
  });

  it('are listed one by one: no container imports a whole Secret', () => {
    for (const { name, envFrom } of ours) expect([name, envFrom]).toEqual([name, undefined]);
  });

  it.each(APPS_OF[overlay])('let %s trust only proxies in private networks', (app) => {
    // Otherwise every user would have the proxy's address, and one attacker who guesses passwords would lock out all users.
    const ranges = environmentOf(ours.find(({ name }) => name === app) ?? { name: app })['TRUSTED_PROXIES'];
    expect(ranges).toEqual(expect.any(String));
    for (const range of ranges?.split(',') ?? [])
      expect(range).toMatch(/^(10|172\.(1[6-9]|2\d|3[01])|192\.168)\.[\d.]+(\/(1[2-9]|2\d|3[0-2]))?$/);
  });

  it('set NODE_ENV to production, in which no secret has a default', () => {
    for (const container of ours) expect(environmentOf(container)['NODE_ENV']).toBe('production');
  });

  it('give private keys of ID tokens only to token, and their public keys to authorize', () => {
    const holders = ours.filter(({ env = [] }) => env.some(({ name }) => name === 'ID_TOKEN_KEYS'));
    const keys = holders.map((container) => ({
      name: container.name,
      keys: SigningKeys.parse(environmentOf(container)['ID_TOKEN_KEYS'] ?? ''),
    }));
    const canSign = Object.fromEntries(keys.map((app) => [app.name, app.keys.canSign]));
    expect(canSign).toEqual({ authorize: false, token: true });
    expect(keys[0]?.keys.jwks).toEqual(keys[1]?.keys.jwks);
    expect(keys[0]?.keys.algorithms).toEqual(SIGNING_ALGORITHMS);
  });

  it('take credentials only from Secrets, of the process’s own user', () => {
    for (const { name, env = [] } of ours)
      for (const variable of env.filter((setting) => setting.name in SECRETS)) {
        const { secretKeyRef } = variable.valueFrom ?? {};
        expect(secretKeyRef?.key).toBe(variable.name);
        const secret = secretKeyRef?.name?.replace(/-[a-z0-9]{10}$/, '');
        if (variable.name === 'NATS_URL') expect(secret).toBe(`nats-${name}`);
        if (variable.name === 'DATABASE_URL')
          expect(secret).toBe(name === 'migrate' ? 'database-owner' : 'database');
      }
  });

  it.each(APPS_OF[overlay])('make %s listen on the ports of its container', (app) => {
    const container = ours.find(({ name }) => name === app);
    const [Shape] = SHAPES[app] ?? [];
    if (!container || !Shape) throw new Error(`no ${app}`);
    const { PORT, INTERNAL_PORT } = loadConfiguration(Shape, environmentOf(container)) as TokenConfiguration;
    expect(container.ports).toEqual([
      { name: 'http', containerPort: PORT },
      { name: 'internal', containerPort: INTERNAL_PORT },
    ]);
  });
});

describe.each(OVERLAYS)('the %s overlay with the component for a product', (overlay) => {
  it('gives every process that reads the scopes the same file', async () => {
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
      return one(manifests, 'ConfigMap', map).data?.[variable.slice((mount?.mountPath.length ?? 0) + 1)];
    });
    // The copy equals the repository's default file.
    expect(new Set(files)).toEqual(new Set([await readFile('scopes.yaml', 'utf8')]));
  });
});

describe.each(OVERLAYS)('the %s overlay with the component for a schema', (overlay) => {
  it('sets DATABASE_SCHEMA for every process with a database, and for no other', async () => {
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
    it('lets authorize, operator and token alone reach the addresses that OUTSIDE_FETCH_ALLOW permits', async () => {
      const manifests = await renderWith(overlay, 'private-clients');
      expect(await problemsOf(manifests)).toEqual([]);
      const allowed = workloads(manifests)
        .flatMap(containersOf)
        .flatMap(({ name, env = [] }) =>
          env.filter((setting) => setting.name === 'OUTSIDE_FETCH_ALLOW').map(({ value }) => [name, value]),
        );
      const names = ['authorize', 'operator', 'token'];
      expect(allowed.toSorted((one, two) => String(one).localeCompare(String(two)))).toEqual(
        names.map((name) => [name, '10.1.0.0/16']),
      );
      expect(new OutsideHosts(allowed[0]?.[1] ?? '').hasAddress('10.1.2.3')).toBe(true);
      const reaching = (address: string) =>
        podsOf(manifests)
          // The provider where operators log in may be anywhere.
          .filter(({ name }) => name !== 'console')
          .filter((pod) => passes(manifests, pod, { name: 'an application', address }, 443))
          .map(({ name }) => name);
      expect([reaching('10.1.2.3').toSorted(), reaching('10.2.0.1')]).toEqual([names, []]);
    });
  },
);

describe.each(OVERLAYS)('the %s overlay with the component for a login', (overlay) => {
  it('configures the login of authorize, which reaches the provider as no other pod does', async () => {
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

describe.each(OVERLAYS)('the %s overlay with the component for the doctor', (overlay) => {
  it('lets the operator reach the public addresses, and no other pod', async () => {
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

describe('the production overlay with the component for the console', () => {
  it('has the console at CONSOLE_URL, for which token issues access tokens', async () => {
    const path = 'overlays/production';
    const url = 'https://console.example.org';
    const manifests = await render(path, async (folder) => {
      const file = join(folder, path, 'kustomization.yaml');
      const text = await readFile(file, 'utf8');
      await writeFile(
        file,
        text
          .replace('\ncomponents:\n', '$&  - ../../components/console\n')
          .replace('    literals:\n', `$&      - CONSOLE_URL=${url}\n`),
      );
    });
    expect(await problemsOf(manifests)).toEqual([]);
    expect(one(manifests, 'Ingress', 'console').spec?.rules?.[0]?.host).toBe('console.example.org');
    expect(one(manifests, 'ConfigMap', 'addresses').data?.['CONSOLE_URL']).toBe(url);
    const holders = workloads(manifests)
      .flatMap(containersOf)
      .filter(({ env = [] }) => env.some(({ name }) => name === 'CONSOLE_URL'));
    expect(holders.map(({ name }) => name).sort()).toEqual(['console', 'operator', 'token']);
    expect(one(manifests, 'PodDisruptionBudget', 'console').spec?.minAvailable).toBe(1);
    expect(one(manifests, 'Deployment', 'console').spec?.replicas).toBe(2);
  });
});

describe('the External Secrets', () => {
  it('create every Secret and key that the production pods refer to', async () => {
    const [asked, made] = await Promise.all([
      render('overlays/production'),
      render('components/external-secrets'),
    ]);
    const wanted = workloads(asked)
      .flatMap(containersOf)
      .flatMap(({ env = [] }) => env)
      .flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])
      .map(({ name, key }) => `${name}:${key}`);
    const given = made.flatMap((manifest) => {
      const { apiVersion, kind, metadata, spec } = manifest as Manifest & { spec: ExternalSecretSpec };
      expect([apiVersion, kind]).toEqual(['external-secrets.io/v1', 'ExternalSecret']);
      expect(Object.keys(spec).sort()).toEqual(['data', 'refreshInterval', 'secretStoreRef', 'target']);
      expect(spec.target).toEqual({ name: metadata?.name });
      return spec.data.map(({ secretKey, remoteRef, ...rest }) => {
        expect(rest).toEqual({});
        expect(remoteRef).toEqual({ key: `scheduling-oauth/${metadata?.name}`, property: secretKey });
        return `${metadata?.name}:${secretKey}`;
      });
    });
    expect(new Set(wanted)).toEqual(new Set(given));
  });
});

interface ExternalSecretSpec {
  readonly target: object;
  readonly data: readonly { readonly secretKey: string; readonly remoteRef: object }[];
}
