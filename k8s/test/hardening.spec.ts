import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PUBLIC_PATHS } from '#oauth/endpoints.js';
import { all, containersOf, find, selects, type Workload, workloads } from './manifests.js';
import { type Manifest, OVERLAYS, render } from './render.js';
import { ROOT } from './settings.js';

const APPS = ['authorize', 'token', 'resource'] as const;
/** Only the local overlay contains the component `console`, which is not scaled. */
const APPS_OF = { local: [...APPS, 'console'], production: APPS } as const;

describe.each(OVERLAYS)('the %s overlay', (overlay) => {
  let manifests: Manifest[];
  let everything: Workload[];
  beforeAll(async () => {
    manifests = await render(`overlays/${overlay}`);
    everything = workloads(manifests);
  });

  it.each(APPS)('routes every public path of %s to the app', (app) => {
    const routes = (find(manifests, 'Ingress', app).spec?.rules ?? []).flatMap(
      ({ http }) => http?.paths ?? [],
    );
    const isRouted = (asked: string) =>
      routes.some(
        ({ path = '', pathType }) =>
          asked === path || (pathType === 'Prefix' && asked.startsWith(`${path}/`)),
      );
    expect(PUBLIC_PATHS[app].filter((path) => !isRouted(path))).toEqual([]);
  });

  it('enforces the Pod Security level "restricted" for every pod', () => {
    const [namespace] = all(manifests, 'Namespace');
    expect(namespace?.metadata?.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
    for (const workload of everything) {
      const { spec } = workload.template;
      expect(spec?.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: expect.any(Number),
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(spec?.securityContext?.runAsUser).toBeGreaterThan(0);
      expect([spec?.hostNetwork, spec?.hostPID, spec?.hostIPC].some(Boolean)).toBe(false);
      expect((spec?.volumes ?? []).some(({ hostPath }) => hostPath)).toBe(false);
      for (const container of containersOf(workload))
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  });

  it('mounts no API token, and uses a service account per app', () => {
    for (const { name, template } of everything) {
      expect(template.spec?.automountServiceAccountToken).toBe(false);
      expect(template.spec?.enableServiceLinks).toBe(false);
      if (['postgres', 'redis', 'nats'].includes(name)) continue;
      expect(template.spec?.serviceAccountName).toBe(name);
      expect(find(manifests, 'ServiceAccount', name).automountServiceAccountToken).toBe(false);
    }
  });

  it('requests CPU and memory, and limits memory', () => {
    for (const container of everything.flatMap(containersOf)) {
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
    }
  });

  it('pins every image to a full version', () => {
    for (const { image = '' } of everything.flatMap(containersOf))
      // Versions of PostgreSQL have two parts. For other images, a tag with two parts can move to a new version.
      expect(image).toMatch(/^([\w./-]+:\d+\.\d+\.\d+|postgres:\d+\.\d+)(-[a-z]+)?(@sha256:[0-9a-f]{64})?$/);
  });

  it('runs the current version of every app', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const ours = everything.flatMap(containersOf).filter(({ image }) => image?.includes('scheduling-oauth'));
    expect(ours).toHaveLength(overlay === 'local' ? 9 : 7);
    for (const { image } of ours) expect(image?.split(':').at(-1)).toBe(version);
  });

  it('has selectors that match only the intended pods', () => {
    for (const { kind, name, selector, template } of everything) {
      if (kind === 'Job') continue;
      const mine = everything.filter((other) => selects(selector, other.template.metadata?.labels));
      expect([kind, name, mine.map((other) => other.name)]).toEqual([kind, name, [name]]);
      expect(selects(selector, template.metadata?.labels)).toBe(true);
      const { topologySpreadConstraints = [], affinity } = template.spec ?? {};
      const terms = affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
      for (const { labelSelector } of [
        ...topologySpreadConstraints,
        ...terms.map(({ podAffinityTerm }) => podAffinityTerm),
      ])
        expect(labelSelector).toEqual(selector);
    }
  });

  it('routes Services only to existing ports', () => {
    for (const { metadata, spec } of all(manifests, 'Service')) {
      const pods = everything.filter(({ template }) =>
        selects({ matchLabels: spec?.selector ?? {} }, template.metadata?.labels),
      );
      expect([metadata?.name, pods.map(({ name }) => name)]).toEqual([metadata?.name, [metadata?.name]]);
      const names = pods.flatMap(containersOf).flatMap(({ ports = [] }) => ports.map(({ name }) => name));
      for (const { targetPort } of spec?.ports ?? []) expect(names).toContain(targetPort);
    }
  });

  it.each(APPS_OF[overlay])('exposes only the app port of %s inside the cluster', (app) => {
    const { spec } = find(manifests, 'Service', app);
    expect(spec?.type ?? 'ClusterIP').toBe('ClusterIP');
    expect(spec?.ports).toEqual([{ name: 'http', port: 80, targetPort: 'http' }]);
    const backends = (find(manifests, 'Ingress', app).spec?.rules ?? []).flatMap(({ http }) =>
      (http?.paths ?? []).map(({ backend }) => backend.service),
    );
    for (const backend of backends) expect(backend).toEqual({ name: app, port: { name: 'http' } });
    expect(backends.length).toBeGreaterThan(0);
  });

  it('probes only existing ports of the container', () => {
    for (const container of everything.flatMap(containersOf)) {
      const names = (container.ports ?? []).map(({ name }) => name);
      for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
        const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
        if (port !== undefined) expect(names).toContain(port);
      }
    }
  });

  it.each(APPS_OF[overlay])(
    'restarts %s only if it is unhealthy, and routes requests only if it is ready',
    (app) => {
      const [container] = find(manifests, 'Deployment', app).spec?.template.spec?.containers ?? [];
      expect(container?.livenessProbe?.httpGet).toEqual({ path: '/healthz', port: 'internal' });
      expect(container?.startupProbe?.httpGet).toEqual({ path: '/healthz', port: 'internal' });
      expect(container?.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'internal' });
      // /readyz responds within 2 s. With a shorter timeout, the probe would hide which dependency is unresponsive.
      expect(container?.readinessProbe?.timeoutSeconds).toBeGreaterThan(2);
    },
  );

  it.each(APPS_OF[overlay])(
    'starts new pods of %s before it stops old ones, and allows old ones to drain',
    (app) => {
      const { spec } = find(manifests, 'Deployment', app);
      expect(spec?.strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
      const [container] = spec?.template.spec?.containers ?? [];
      const [, , script = ''] = container?.lifecycle?.preStop?.exec?.command ?? [];
      // The process has id 1, and reports the shutdown from this signal on.
      const wait = Number(/^kill -USR2 1; sleep (\d+)$/.exec(script)?.[1]);
      expect(wait).toBeGreaterThanOrEqual(5);
      // A request may take 10 s to arrive (docs/configuration.md, Limits).
      expect(spec?.template.spec?.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(wait + 15);
      // A fixed number would reset the autoscaler's decision on each deployment.
      expect(spec?.replicas).toBe(app === 'console' ? 2 : undefined);
    },
  );

  it.each(APPS)('scales %s, and keeps replicas during a node drain', (app) => {
    const budget = find(manifests, 'PodDisruptionBudget', app);
    const scaler = find(manifests, 'HorizontalPodAutoscaler', app);
    const deployment = find(manifests, 'Deployment', app);
    const [least, most] = [scaler.spec?.minReplicas ?? 0, scaler.spec?.maxReplicas ?? 0];
    expect(least).toBeGreaterThanOrEqual(2);
    expect(most).toBeGreaterThan(least);
    expect(budget.spec?.minAvailable).toBeGreaterThanOrEqual(1);
    expect(budget.spec?.minAvailable).toBeLessThan(least);
    expect(budget.spec?.selector).toEqual(deployment.spec?.selector);
    expect(scaler.spec?.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: app });
  });

  it('has a console only in the local overlay, with a disruption budget and a separate ingress controller', () => {
    const names = all(manifests, 'Deployment').map(({ metadata }) => metadata?.name);
    expect(names.includes('console')).toBe(overlay === 'local');
    if (overlay !== 'local') return;
    const { spec } = find(manifests, 'PodDisruptionBudget', 'console');
    expect(spec?.minAvailable).toBe(1);
    expect(spec?.selector).toEqual(find(manifests, 'Deployment', 'console').spec?.selector);
    const { metadata, spec: ingress } = find(manifests, 'Ingress', 'console');
    expect(metadata?.annotations?.['nginx.org/server-snippets']).toMatch(/^(allow [\d./]+;\n)+deny all;\n$/);
    for (const other of all(manifests, 'Ingress').filter((ingress) => ingress.metadata?.name !== 'console')) {
      expect(other.spec?.ingressClassName).not.toBe(ingress?.ingressClassName);
      expect(other.spec?.rules?.[0]?.host).not.toBe(ingress?.rules?.[0]?.host);
    }
    expect(ingress?.rules?.map(({ host }) => host)).toEqual(['console.localhost']);
  });

  it.each(APPS_OF[overlay])('spreads the pods of one version of %s over zones and nodes', (app) => {
    const { topologySpreadConstraints, affinity } =
      find(manifests, 'Deployment', app).spec?.template.spec ?? {};
    // With several constraints, the scheduler would ignore nodes that lack the label of any constraint.
    expect(topologySpreadConstraints).toEqual([
      expect.objectContaining({
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        matchLabelKeys: ['pod-template-hash'],
      }),
    ]);
    expect(affinity).toEqual({
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: expect.objectContaining({
              topologyKey: 'kubernetes.io/hostname',
              matchLabelKeys: ['pod-template-hash'],
            }),
          },
        ],
      },
    });
  });

  it.each(APPS_OF[overlay])('allows two minutes for the start of %s', (app) => {
    const [container] = find(manifests, 'Deployment', app).spec?.template.spec?.containers ?? [];
    const { periodSeconds = 10, failureThreshold = 3, timeoutSeconds = 1 } = container?.startupProbe ?? {};
    expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(120);
    expect(timeoutSeconds).toBeGreaterThanOrEqual(2);
    // A busy node must not cause a restart.
    expect(container?.livenessProbe?.timeoutSeconds).toBeGreaterThanOrEqual(2);
  });

  it('retries a migration for more than an hour', () => {
    const { backoffLimit = 6 } = find(manifests, 'Job', 'migrate').spec ?? {};
    // The kubelet waits 10 s, then twice as long each time, but at most 5 min.
    const waits = Array.from({ length: backoffLimit }, (_, tries) => Math.min(10 * 2 ** tries, 300));
    expect(waits.reduce((sum, wait) => sum + wait)).toBeGreaterThan(3_600);
  });

  it.each(APPS_OF[overlay].filter((app) => app !== 'resource'))(
    'starts %s only after the migrations of its version are applied',
    (app) => {
      const { initContainers = [], containers = [] } =
        find(manifests, 'Deployment', app).spec?.template.spec ?? {};
      const [gate] = initContainers;
      expect(gate?.args).toEqual(['dist/apps/operator.cjs', 'migrate', '--wait']);
      expect(gate?.image).toBe(containers[0]?.image);
      const [migration] = find(manifests, 'Job', 'migrate').spec?.template.spec?.containers ?? [];
      expect(migration?.args).toEqual(['dist/apps/operator.cjs', 'migrate']);
      expect(migration?.image).toBe(gate?.image);
    },
  );
});
