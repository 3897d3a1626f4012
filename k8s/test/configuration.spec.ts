import type { V1Container } from '@kubernetes/client-node';
import { MigrateSettings } from '#database/operations/migrate.settings.js';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { SIGNING_ALGORITHMS, SigningKeys } from '#oauth/openid/signing-keys.js';
import { AuthorizeConfiguration } from '../../apps/authorize/src/configuration/authorize.configuration.js';
import {
  ChangeSettings,
  DatabaseSettings,
  DoctorSettings,
  HandoverSettings,
  ResourceServerSettings,
  RegistrationSettings,
} from '../../apps/operator/src/settings/settings.js';
import { ConsoleConfiguration } from '../../apps/console/src/console.configuration.js';
import { ResourceConfiguration } from '../../apps/resource/src/resource.configuration.js';
import { TokenConfiguration } from '../../apps/token/src/token.configuration.js';
import { ID_TOKEN_KEYS, PUBLIC_ID_TOKEN_KEYS } from '#test/support/keys.js';
import { containersOf, environmentOf as readEnvironment, workloads } from './manifests.js';
import { SECRETS } from './settings.js';
import { createdOnce, type Manifest, OVERLAYS, render } from './render.js';

function secretOf(secret: string, key: string): string {
  if (key !== 'ID_TOKEN_KEYS') return SECRETS[key] ?? '';
  return secret === 'id-token-keys' ? ID_TOKEN_KEYS : PUBLIC_ID_TOKEN_KEYS;
}

/** Configuration classes, and classes with variables that Node reads, by container name. */
const SHAPES: Readonly<Record<string, readonly (new () => object)[]>> = {
  authorize: [AuthorizeConfiguration],
  token: [TokenConfiguration],
  resource: [ResourceConfiguration],
  console: [ConsoleConfiguration],
  operator: [
    DatabaseSettings,
    ChangeSettings,
    ResourceServerSettings,
    RegistrationSettings,
    HandoverSettings,
    DoctorSettings,
  ],
  migrate: [MigrateSettings],
  migrated: [DatabaseSettings],
};
const READ_BY_ALL = ['NODE_ENV', 'NODE_EXTRA_CA_CERTS'];

const APPS = ['authorize', 'token', 'resource'];
/** Only the local overlay contains the component `console`. */
const APPS_OF = { local: [...APPS, 'console'], production: APPS };

describe.each(OVERLAYS)('the variables of the %s overlay', (overlay) => {
  let manifests: Manifest[];
  let ours: V1Container[];
  beforeAll(async () => {
    const once = overlay === 'local' ? await createdOnce() : [];
    manifests = [...(await render(`overlays/${overlay}`)), ...once];
    ours = workloads(manifests)
      .flatMap(containersOf)
      .filter(({ image }) => image?.includes('scheduling-oauth'));
  });

  const environmentOf = (container: V1Container): Record<string, string> =>
    readEnvironment(manifests, container, overlay === 'production' ? secretOf : undefined);

  it('are sufficient and valid for each process', () => {
    for (const container of ours)
      for (const shape of SHAPES[container.name] ?? [])
        expect(() => loadConfiguration(shape, environmentOf(container))).not.toThrow();
  });

  it('are all read by their process', () => {
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

  it('are listed individually, and no container imports a whole Secret', () => {
    for (const { name, envFrom } of ours) expect([name, envFrom]).toEqual([name, undefined]);
  });

  it.each(APPS_OF[overlay])('make %s trust only proxies in private networks', (app) => {
    // Otherwise all users could have one proxy's address, and one attacker who guesses passwords would
    // lock out all users.
    const ranges = environmentOf(ours.find(({ name }) => name === app) ?? { name: app })['TRUSTED_PROXIES'];
    expect(ranges).toEqual(expect.any(String));
    for (const range of ranges?.split(',') ?? [])
      expect(range).toMatch(/^(10|172\.(1[6-9]|2\d|3[01])|192\.168)\.[\d.]+(\/(1[2-9]|2\d|3[0-2]))?$/);
  });

  it('set NODE_ENV to production', () => {
    for (const container of ours) expect(environmentOf(container)['NODE_ENV']).toBe('production');
  });

  it('contain private keys of ID tokens only for token, and their public keys for authorize', () => {
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

  it('contain credentials only from the Secrets of the process', () => {
    const SERVERS: Readonly<Record<string, string>> = {
      DATABASE_URL: 'database',
      REDIS_URL: 'redis',
      NATS_URL: 'nats',
      AUDIT_NATS_URL: 'nats',
    };
    for (const workload of workloads(manifests))
      // Includes the containers that wait for the migrations.
      for (const { env = [] } of containersOf(workload))
        for (const variable of env.filter((setting) => setting.name in SECRETS)) {
          const { secretKeyRef } = variable.valueFrom ?? {};
          expect(secretKeyRef?.key).toBe(variable.name);
          const server = SERVERS[variable.name];
          const secret = secretKeyRef?.name?.replace(/-[a-z0-9]{10}$/, '');
          if (server !== undefined) expect(secret).toBe(`${server}-${workload.name}`);
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

describe('the External Secrets', () => {
  it('create every Secret and key that the production pods refer to', async () => {
    const [production, externalSecrets] = await Promise.all([
      render('overlays/production'),
      render('components/external-secrets'),
    ]);
    const required = workloads(production)
      .flatMap(containersOf)
      .flatMap(({ env = [] }) => env)
      .flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])
      .map(({ name, key }) => `${name}:${key}`);
    const created = externalSecrets.flatMap((manifest) => {
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
    expect(new Set(required)).toEqual(new Set(created));
  });
});

interface ExternalSecretSpec {
  readonly target: object;
  readonly data: readonly { readonly secretKey: string; readonly remoteRef: object }[];
}
