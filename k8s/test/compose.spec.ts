import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfiguration } from '#platform/configuration/load-configuration.js';
import { AuthorizeConfiguration } from '../../apps/authorize/src/configuration/authorize.configuration.js';
import { ConsoleConfiguration } from '../../apps/console/src/console.configuration.js';
import { DevelopersConfiguration } from '../../apps/developers/src/developers.configuration.js';
import { ResourceConfiguration } from '../../apps/resource/src/resource.configuration.js';
import { TokenConfiguration } from '../../apps/token/src/token.configuration.js';
import { ownSettings, ROOT } from './settings.js';

interface Service {
  readonly image: string;
  readonly profiles?: string[];
  readonly command?: string[];
  readonly environment?: Record<string, string>;
  readonly networks?: string[] | Record<string, { ipv4_address: string }>;
  readonly ports?: string[];
  readonly read_only?: boolean;
  readonly security_opt?: string[];
  readonly cap_drop?: string[];
  readonly network_mode?: string;
  readonly stop_grace_period?: string;
  readonly volumes: string[];
  readonly depends_on?: Record<string, { condition: string }>;
  readonly healthcheck?: { readonly test: string[] };
}

const SHAPES = {
  authorize: AuthorizeConfiguration,
  token: TokenConfiguration,
  resource: ResourceConfiguration,
} as const;
/** Number of ports of each ingress. */
const INGRESSES = { ingress: 3, 'console-ingress': 1, 'developers-ingress': 1 } as const;
const APPS = Object.keys(SHAPES) as (keyof typeof SHAPES)[];

describe('docker-compose.yml', () => {
  let services: Record<string, Service>;
  let volumes: Record<string, unknown>;
  let networks: Record<string, { internal?: boolean }>;
  let settings: Awaited<ReturnType<typeof ownSettings>>;
  beforeAll(async () => {
    const text = await readFile(join(ROOT, 'docker-compose.yml'), 'utf8');
    ({ services, volumes, networks } = parse(text, { merge: true }) as {
      services: Record<string, Service>;
      volumes: Record<string, unknown>;
      networks: Record<string, { internal?: boolean }>;
    });
    settings = await ownSettings();
  });
  afterAll(() => settings.remove());

  const service = (name: string): Service => {
    const found = services[name];
    if (!found) throw new Error(`there is no service ${name}`);
    return found;
  };

  it('passes OPERATOR_NAME only to the operator', () => {
    for (const [name, { environment = {} }] of Object.entries(services))
      expect([name, environment['OPERATOR_NAME']]).toEqual([
        name,
        name === 'operator' ? '${OPERATOR_NAME:-}' : undefined,
      ]);
    const mail = new Set(['DEVELOPERS_URL', 'SMTP_URL', 'MAIL_FROM', 'OPERATOR_MAIL']);
    const ofToken = Object.entries(service('token').environment ?? {});
    expect(service('operator').environment).toMatchObject(
      Object.fromEntries(ofToken.filter(([name]) => !mail.has(name))),
    );
  });

  it('publishes only the ports of the ingresses, and only on the loopback interface', () => {
    for (const [name, { ports }] of Object.entries(services)) {
      if (!(name in INGRESSES)) expect([name, ports]).toEqual([name, undefined]);
      for (const port of ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    }
    for (const [name, count] of Object.entries(INGRESSES)) expect(service(name).ports).toHaveLength(count);
  });

  /** @param file variables in .env */
  async function environmentOf(
    app: string,
    file: Readonly<Record<string, string>> = {},
  ): Promise<Record<string, string>> {
    const { environment = {}, command = [] } = service(app);
    const files = command.flatMap((word) => /^--env-file=\/settings\/(.*)$/.exec(word)?.[1] ?? []);
    const texts = await Promise.all(files.map((name) => readFile(join(settings.folder, app, name), 'utf8')));
    const secrets = texts
      .join('')
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2));
    const values = Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(
        /^\$\{(\w+):-(.*)\}$/,
        (_, variable: string, otherwise: string) => file[variable] ?? otherwise,
      ),
    ]);
    return { NODE_ENV: 'production', ...Object.fromEntries([...values, ...secrets]) } as Record<
      string,
      string
    >;
  }

  it.each(APPS)('sets all required variables of %s and no unknown ones', async (app) => {
    // SCOPES_FILE is by default relative to /app, the working directory of the image.
    expect(service(app).volumes).toEqual([
      `settings-${app}:/settings:ro`,
      './scopes.yaml:/app/scopes.yaml:ro',
    ]);
    const env = await environmentOf(app);
    expect(() => loadConfiguration(SHAPES[app] as new () => object, env)).not.toThrow();
    const known = Object.keys(new SHAPES[app]());
    const shared = ['AUTH_URL', 'BASE_URL', 'API_URL'];
    for (const name of Object.keys(env)) expect([...known, ...shared]).toContain(name);
  });

  it('starts the console only with its profile and a login', async () => {
    for (const [name, { profiles }] of Object.entries(services))
      expect([name, profiles]).toEqual([
        name,
        name === 'operator' ? ['operator'] : /^(?:console|developers)/.exec(name)?.slice(0, 1),
      ]);
    const file = {
      CONSOLE_ISSUER: 'https://login.example.com',
      CONSOLE_CLIENT_ID: 'console',
      CONSOLE_CLIENT_SECRET: 'A'.repeat(22),
      CONSOLE_GROUPS_CLAIM: 'groups',
      CONSOLE_ROLES: 'admins=admin',
    };
    const env = await environmentOf('console', file);
    expect(() => loadConfiguration(ConsoleConfiguration, env)).not.toThrow();
    for (const name of Object.keys(env)) expect(Object.keys(new ConsoleConfiguration())).toContain(name);
    const without = await environmentOf('console');
    expect(() => loadConfiguration(ConsoleConfiguration, without)).toThrow(/CONSOLE_ISSUER/);
    const url = { CONSOLE_URL: env['CONSOLE_URL'] ?? '' };
    for (const app of ['token', 'operator']) expect(await environmentOf(app, url)).toMatchObject(url);
    expect(service('console').healthcheck?.test.join(' ')).toContain('http://127.0.0.1:9004/readyz');
    expect(env['TRUSTED_PROXIES']).toBe(
      (service('console-ingress').networks as Record<string, { ipv4_address: string }>)['operators']
        ?.ipv4_address,
    );
  });

  it('starts the portal with its profile and a registration, in the network of its ingress', async () => {
    const file = { DEVELOPERS_CLIENT_ID: 'sc_portal', DEVELOPERS_CLIENT_SECRET: 'A'.repeat(22) };
    const env = await environmentOf('developers', file);
    expect(() => loadConfiguration(DevelopersConfiguration, env)).not.toThrow();
    const known = [...Object.keys(new DevelopersConfiguration()), 'NODE_EXTRA_CA_CERTS'];
    for (const name of Object.keys(env)) expect(known).toContain(name);
    const without = await environmentOf('developers');
    expect(() => loadConfiguration(DevelopersConfiguration, without)).toThrow(/DEVELOPERS_CLIENT_ID/);
    const { network_mode, healthcheck, networks } = service('developers');
    expect([network_mode, networks]).toEqual(['service:developers-ingress', undefined]);
    expect(healthcheck?.test.join(' ')).toContain('http://127.0.0.1:9005/readyz');
    // The issuer at the address of BASE_URL.
    const conf = await readFile(join(ROOT, 'deploy/nginx-developers.conf'), 'utf8');
    expect(conf).toContain(`listen 127.0.0.1:${new URL(env['BASE_URL'] ?? '').port};`);
    expect(env['TRUSTED_PROXIES']).toBe('127.0.0.1');
    expect(await readFile(join(settings.folder, 'developers', 'ca.crt'), 'utf8')).toContain(
      'BEGIN CERTIFICATE',
    );
  });

  it('has the variables of the portal that Kubernetes has', async () => {
    const manifest = await readFile(join(ROOT, 'k8s/components/developers/deployment.yaml'), 'utf8');
    const names = [...manifest.matchAll(/- name: ([A-Z_]+)$/gm)].map(([, name = '']) => name);
    const env = await environmentOf('developers');
    const others = ['CONSOLE_URL', 'NODE_EXTRA_CA_CERTS'];
    expect([...new Set(names)].sort()).toEqual(
      Object.keys(env)
        .filter((name) => !others.includes(name))
        .sort(),
    );
  });

  it('makes the apps trust client addresses only from the ingress', () => {
    const networks = service('ingress').networks as Record<string, { ipv4_address: string }>;
    for (const app of APPS)
      expect(service(app).environment?.['TRUSTED_PROXIES']).toBe(networks['front']?.ipv4_address);
  });

  it('connects only services that communicate', () => {
    const members = (network: string): string[] =>
      Object.entries(services)
        .filter(([, { networks = [] }]) =>
          (Array.isArray(networks) ? networks : Object.keys(networks)).includes(network),
        )
        .map(([name]) => name)
        .sort();
    expect(members('sql')).toEqual([
      'authorize',
      'console',
      'developers-ingress',
      'migrate',
      'operator',
      'postgres',
      'token',
    ]);
    expect(members('state')).toEqual(['authorize', 'console', 'developers-ingress', 'redis', 'token']);
    expect(members('events')).toEqual([
      'authorize',
      'console',
      'developers-ingress',
      'migrate',
      'nats',
      'operator',
      'resource',
      'token',
    ]);
    expect(members('front')).toEqual(['authorize', 'developers-ingress', 'ingress', 'resource', 'token']);
    expect(members('operators')).toEqual(['console', 'console-ingress']);
  });

  it('isolates every network that no ingress uses', () => {
    const open = Object.entries(networks).filter(([, { internal }]) => !internal);
    expect(open.map(([name]) => name)).toEqual(['front', 'operators']);
    const modes: Readonly<Record<string, string>> = {
      setup: 'none',
      developers: 'service:developers-ingress',
    };
    for (const [name, { network_mode }] of Object.entries(services))
      expect([name, network_mode]).toEqual([name, modes[name]]);
  });

  it('drops all capabilities of our processes and the ingresses', () => {
    for (const name of [...APPS, 'console', 'developers', 'migrate', 'operator', ...Object.keys(INGRESSES)])
      expect([name, service(name).cap_drop]).toEqual([name, ['ALL']]);
  });

  it.each(APPS)('checks /readyz of %s, and allows the app to finish its requests', (app) => {
    const { INTERNAL_PORT } = new SHAPES[app]();
    expect(service(app).healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${INTERNAL_PORT}/readyz`);
    // 10 s for a request to arrive (docs/configuration.md, Limits), 3 s for requests over NATS, and time to close
    // connections.
    expect(Number(/^(\d+)s$/.exec(service(app).stop_grace_period ?? '')?.[1])).toBeGreaterThanOrEqual(15);
  });

  it('hardens every container except setup, and pins every image', () => {
    for (const [name, { image, read_only, security_opt, volumes: mounts }] of Object.entries(services)) {
      expect(image).toMatch(/^[\w-]+:\d+\.\d+(\.\d+)?(-[a-z]+)?$/);
      for (const mount of mounts) {
        const [source = ''] = mount.split(':');
        if (!source.startsWith('./')) expect(Object.keys(volumes)).toContain(source);
      }
      if (name === 'setup') continue;
      expect([name, read_only, security_opt]).toEqual([name, true, ['no-new-privileges:true']]);
    }
  });

  it('starts each service after its dependencies are healthy', () => {
    const conditions = (name: string): string[] =>
      Object.entries(service(name).depends_on ?? {})
        .map(([on, { condition }]) => `${on} ${condition}`)
        .sort();
    for (const server of ['postgres', 'redis', 'nats'])
      expect(conditions(server)).toEqual(['setup service_completed_successfully']);
    expect(conditions('migrate')).toEqual(['nats service_healthy', 'postgres service_healthy']);
    const backing = [
      'migrate service_completed_successfully',
      'nats service_healthy',
      'redis service_healthy',
    ];
    expect(conditions('authorize')).toEqual(backing);
    expect(conditions('token')).toEqual(backing);
    expect(conditions('console')).toEqual(backing);
    expect(conditions('console-ingress')).toEqual(['console service_healthy']);
    expect(conditions('developers')).toEqual(['developers-ingress service_started', ...backing]);
    expect(conditions('developers-ingress')).toEqual(['ingress service_healthy']);
    expect(conditions('resource')).toEqual(['nats service_healthy']);
    expect(conditions('ingress')).toEqual(APPS.map((app) => `${app} service_healthy`).sort());
    for (const name of ['postgres', 'redis', 'nats', ...APPS, 'ingress'])
      expect([name, service(name).healthcheck]).not.toContain(undefined);
  });

  it('makes Redis persistent and disables eviction', async () => {
    const text = await readFile(join(ROOT, 'k8s/overlays/local/redis/redis.conf'), 'utf8');
    expect(text.split('\n')).toEqual(
      expect.arrayContaining(['appendonly yes', 'appendfsync everysec', 'maxmemory-policy noeviction']),
    );
  });

  it('runs the same servers as the local overlay', async () => {
    for (const server of ['postgres', 'redis', 'nats']) {
      const manifest = await readFile(join(ROOT, `k8s/overlays/local/${server}/${server}.yaml`), 'utf8');
      expect(manifest).toContain(`image: ${service(server).image}\n`);
    }
  });

  it.each(['token', 'resource'])(
    'contains the error responses of the Kubernetes ingress for the %s app',
    async (app) => {
      const manifest = await readFile(join(ROOT, `k8s/components/oauth-errors/${app}.yaml`), 'utf8');
      const snippet = manifest.split('server-snippets: |\n')[1] ?? '';
      expect(snippet).toContain('@unavailable');
      const conf = await readFile(join(ROOT, 'deploy/nginx.conf'), 'utf8');
      const plain = (text: string): string => text.replaceAll(/^ +/gm, '').trim();
      expect(plain(conf)).toContain(plain(snippet));
    },
  );
});
