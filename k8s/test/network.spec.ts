import { passes, type Peer, podsOf, spelledRules } from './connections.js';
import { find } from './manifests.js';
import { type Manifest, OVERLAYS, render } from './render.js';

const INGRESS: Peer = {
  name: 'ingress',
  namespace: 'nginx-ingress',
  labels: { 'app.kubernetes.io/name': 'nginx-ingress' },
};
const MONITORING: Peer = { name: 'monitoring', namespace: 'monitoring', labels: { any: 'pod' } };
const DNS: Peer = { name: 'dns', namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };
const STRANGERS: Peer[] = [
  { name: 'a pod of another namespace', namespace: 'default', labels: { app: 'x' } },
  { name: 'another pod of the controller’s namespace', namespace: 'nginx-ingress', labels: { app: 'x' } },
  { name: 'another pod of kube-system', namespace: 'kube-system', labels: { 'k8s-app': 'metrics-server' } },
  { name: 'a private address', address: '10.9.9.9' },
  { name: 'the metadata service of a cloud', address: '169.254.169.254' },
  { name: 'a private IPv6 address', address: 'fd00::1' },
];
const CLIENTS: Peer[] = [
  { name: 'a public address', address: '93.184.215.14' },
  { name: 'a public IPv6 address', address: '2606:2800:21f:cb07::1' },
];
const SERVERS: Record<(typeof OVERLAYS)[number], (pods: Peer[]) => Record<string, Peer | undefined>> = {
  local: (pods) => ({
    postgres: pods.find(({ name }) => name === 'postgres'),
    redis: pods.find(({ name }) => name === 'redis'),
    nats: pods.find(({ name }) => name === 'nats'),
  }),
  production: () => ({
    postgres: { name: 'postgres', address: '10.20.0.5' },
    redis: { name: 'redis', namespace: 'redis' },
    nats: { name: 'nats', namespace: 'nats' },
  }),
};
const SERVER_PORTS = { postgres: 5432, redis: 6379, nats: 4222 } as const;
const APPS = {
  authorize: [3001, 9001],
  token: [3002, 9002],
  resource: [3003, 9003],
  console: [3004, 9004],
} as const;
/** Controller that only operators can reach. */
const INTERNAL_INGRESS: Peer = { ...INGRESS, name: 'internal ingress', namespace: 'nginx-internal' };

/** Connections in the diagram of ARCHITECTURE.md. */
const ARROWS = [
  'authorize → a public IPv6 address',
  'authorize → a public address',
  'authorize → nats',
  'authorize → postgres',
  'authorize → redis',
  'ingress → authorize:app',
  'ingress → resource:app',
  'ingress → token:app',
  'migrate → nats',
  'migrate → postgres',
  'monitoring → authorize:internal',
  'monitoring → resource:internal',
  'monitoring → token:internal',
  'operator → nats',
  'operator → a public IPv6 address',
  'operator → a public address',
  'operator → postgres',
  'resource → nats',
  'token → a public IPv6 address',
  'token → a public address',
  'token → nats',
  'token → postgres',
  'token → redis',
];

/** Connections of the component `console`, which only the local overlay contains. */
const CONSOLE_ARROWS = [
  'console → a public IPv6 address',
  'console → a public address',
  'console → nats',
  'console → postgres',
  'console → redis',
  'internal ingress → console:app',
  'monitoring → console:internal',
];
const CONSOLE_RULES = [
  'console from namespace monitoring: TCP internal',
  'console from namespace nginx-internal, app.kubernetes.io/name=nginx-ingress: TCP http',
  'to-console-login to 0.0.0.0/0 except 127.0.0.0/8, 169.254.0.0/16 or ::/0: TCP 443',
];

const REACH_CLIENTS = new Set(['authorize', 'operator', 'token']);

const COMMON = [
  ...['authorize', 'resource', 'token'].flatMap((app) => [
    `${app} from namespace monitoring: TCP internal`,
    `${app} from namespace nginx-ingress, app.kubernetes.io/name=nginx-ingress: TCP http`,
  ]),
  'dns to namespace kube-system, k8s-app=kube-dns: UDP 53, TCP 53',
  'to-clients to 0.0.0.0/0 except 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16 or 2000::/3: TCP 443',
];
/** Complete list of rules, so that a rule for an unexpected peer or port fails the test. */
const RULES: Record<(typeof OVERLAYS)[number], string[]> = {
  local: [
    ...COMMON,
    ...CONSOLE_RULES,
    'nats from reaches-nats=true: TCP nats',
    'postgres from reaches-postgres=true: TCP postgres',
    'redis from reaches-redis=true: TCP redis',
    'to-nats to app.kubernetes.io/name=nats: TCP 4222',
    'to-postgres to app.kubernetes.io/name=postgres: TCP 5432',
    'to-redis to app.kubernetes.io/name=redis: TCP 6379',
  ],
  production: [
    ...COMMON,
    'to-nats to namespace nats: TCP 4222',
    'to-postgres to 10.20.0.0/28: TCP 5432',
    'to-redis to namespace redis: TCP 6379, TCP 26379',
  ],
};

describe.each(OVERLAYS)('the network of the %s overlay', (overlay) => {
  let manifests: Manifest[];
  let pods: Peer[];
  let servers: Record<string, Peer | undefined>;
  beforeAll(async () => {
    manifests = await render(`overlays/${overlay}`);
    pods = podsOf(manifests);
    servers = SERVERS[overlay](pods);
  });

  const podOf = (name: string): Peer => {
    const found = pods.find((pod) => pod.name === name);
    if (!found) throw new Error(`there is no pod ${name}`);
    return found;
  };

  it('allows exactly the connections in the architecture', () => {
    const places = [...pods, INGRESS, INTERNAL_INGRESS, MONITORING, ...STRANGERS, ...CLIENTS];
    const found: string[] = [];
    for (const from of places) {
      if (from.namespace === 'scheduling-oauth')
        for (const client of CLIENTS)
          if (passes(manifests, from, client, 443)) found.push(`${from.name} → ${client.name}`);
      for (const [server, port] of Object.entries(SERVER_PORTS)) {
        const to = servers[server];
        if (to === undefined) throw new Error(`no ${server}`);
        const mine = from.namespace === 'scheduling-oauth' || to.namespace === 'scheduling-oauth';
        if (mine && passes(manifests, from, to, port)) found.push(`${from.name} → ${server}`);
      }
      for (const [app, [port, internal]] of Object.entries(APPS)) {
        if (app === 'console' && overlay === 'production') continue;
        if (passes(manifests, from, podOf(app), port)) found.push(`${from.name} → ${app}:app`);
        if (passes(manifests, from, podOf(app), internal)) found.push(`${from.name} → ${app}:internal`);
      }
    }
    const expected = overlay === 'local' ? [...ARROWS, ...CONSOLE_ARROWS] : ARROWS;
    expect(found.sort()).toEqual(expected.toSorted());
  });

  it('has no rules except the listed ones', () => {
    expect(spelledRules(manifests).sort()).toEqual(RULES[overlay].toSorted());
  });

  it('allows no other port', () => {
    const known = new Set<number>([53, ...Object.values(SERVER_PORTS), ...Object.values(APPS).flat()]);
    const ports = [22, 80, 443, 8222, 9229, 26380, 65535].filter((port) => !known.has(port));
    for (const port of ports)
      for (const pod of pods)
        for (const other of [...pods, INGRESS, MONITORING, DNS, ...STRANGERS, ...CLIENTS]) {
          const isClient = REACH_CLIENTS.has(pod.name) && port === 443 && CLIENTS.includes(other);
          // The operators' login provider may have any address.
          const isProvider =
            pod.name === 'console' && port === 443 && /^(?!169\.)/.test(other.address ?? '169.');
          expect([pod.name, other.name, port, passes(manifests, pod, other, port)]).toContain(
            isClient || isProvider,
          );
          expect([other.name, pod.name, port, passes(manifests, other, pod, port)]).toContain(false);
        }
  });

  it('allows DNS only for our processes', () => {
    const may = pods.filter((pod) => passes(manifests, pod, DNS, 53, 'UDP')).map(({ name }) => name);
    const ours = ['authorize', 'migrate', 'operator', 'resource', 'token'];
    expect(may.sort()).toEqual([...ours, ...(overlay === 'local' ? ['console'] : [])].sort());
    expect(passes(manifests, podOf('token'), DNS, 53)).toBe(true);
    for (const stranger of STRANGERS)
      expect(passes(manifests, podOf('token'), stranger, 53, 'UDP')).toBe(false);
  });

  it('denies all connections of a pod without a policy', () => {
    const { spec } = find(manifests, 'NetworkPolicy', 'default-deny');
    expect(spec).toEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    const forgotten: Peer = {
      name: 'forgotten',
      namespace: 'scheduling-oauth',
      labels: { app: 'forgotten' },
    };
    for (const other of [...pods, INGRESS, DNS, ...STRANGERS]) {
      expect(passes(manifests, forgotten, other, 53, 'UDP')).toBe(false);
      expect(passes(manifests, other, forgotten, 3001)).toBe(false);
    }
  });
});
