import type { Manifest } from './render.js';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

type Fields = { readonly [name: string]: unknown };

const PROBE = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
const CONTAINER = {
  imagePullPolicy: 'IfNotPresent',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
};
const POD = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  terminationGracePeriodSeconds: 30,
};
const CLAIM = { spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } };

/** Defaults by field name, for the value of the field or for each of its items. */
const OF_FIELD: Fields = {
  ports: { protocol: 'TCP' },
  startupProbe: PROBE,
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  httpGet: { scheme: 'HTTP' },
  fieldRef: { apiVersion: 'v1' },
  configMap: { defaultMode: 420 },
  secret: { defaultMode: 420 },
  containers: CONTAINER,
  initContainers: CONTAINER,
  template: { metadata: { creationTimestamp: null }, spec: POD },
  volumeClaimTemplates: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...CLAIM },
  scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
};

/** Defaults by kind. */
const OF_KIND: Fields = {
  Namespace: { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } },
  Secret: { type: 'Opaque' },
  PersistentVolumeClaim: CLAIM,
  Service: {
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.10',
      clusterIPs: ['10.96.0.10'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
      sessionAffinity: 'None',
    },
  },
  Deployment: {
    spec: {
      replicas: 1,
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    },
  },
  StatefulSet: {
    spec: {
      podManagementPolicy: 'OrderedReady',
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    },
  },
  Job: {
    spec: {
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      completions: 1,
      parallelism: 1,
      manualSelector: false,
      podReplacementPolicy: 'TerminatingOrFailed',
      suspend: false,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'a' } },
      template: { metadata: { labels: { 'batch.kubernetes.io/controller-uid': 'a' } } },
    },
  },
  HorizontalPodAutoscaler: {
    spec: { behavior: { scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: 'Max' } } },
  },
};

const METADATA = { uid: 'a', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };

/** Returns the manifest with the defaults of an API server (1.30), and with base64 in one line. */
function asKept(manifest: Manifest): Manifest {
  const filled = defaulted(manifest, { ...(OF_KIND[manifest.kind] as Fields), metadata: METADATA });
  const { data } = filled as { data?: Record<string, string> };
  if (manifest.kind !== 'Secret' || !data) return filled as unknown as Manifest;
  const whole = Object.entries(data).map(([key, text]) => [key, text.replace(/\s/g, '')]);
  return { ...filled, data: Object.fromEntries(whole) } as unknown as Manifest;
}

function defaulted(given: object, defaults: Fields): Fields {
  const fields = Object.entries(given).map(([name, value]) => {
    if (['requests', 'limits'].includes(name)) {
      const quantities = Object.entries(value as Fields).map(([what, quantity]) => [
        what,
        canonical(quantity),
      ]);
      return [name, Object.fromEntries(quantities)];
    }
    const own = { ...(defaults[name] as Fields), ...(OF_FIELD[name] as Fields) };
    if (Array.isArray(value)) return [name, value.map((item: unknown) => ofItem(item, own))];
    return [name, ofItem(value, own)];
  });
  return { ...defaults, ...(Object.fromEntries(fields) as Fields) };
}

/** Returns the canonical form, such as `1Gi` for `1024Mi` and `200m` for `0.2`. */
function canonical(quantity: unknown): unknown {
  const [, number = '', unit = ''] = /^([\d.]+)(m|Mi|)$/.exec(String(quantity)) ?? [];
  const value = Number(number);
  if (unit === 'Mi' && value % 1024 === 0) return `${value / 1024}Gi`;
  if (unit === 'm' && value % 1000 === 0) return String(value / 1000);
  if (unit === '' && !Number.isInteger(value)) return `${value * 1000}m`;
  return quantity;
}

function ofItem(value: unknown, defaults: Fields): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? defaulted(value, defaults)
    : value;
}

/** Resources: group and version, kind, path, and true if namespaced. */
const RESOURCES = [
  ['v1', 'Namespace', 'namespaces', false],
  ['v1', 'ConfigMap', 'configmaps', true],
  ['v1', 'Secret', 'secrets', true],
  ['v1', 'Service', 'services', true],
  ['v1', 'ServiceAccount', 'serviceaccounts', true],
  ['v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', true],
  ['apps/v1', 'Deployment', 'deployments', true],
  ['apps/v1', 'StatefulSet', 'statefulsets', true],
  ['batch/v1', 'Job', 'jobs', true],
  ['autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', true],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', true],
  ['networking.k8s.io/v1', 'Ingress', 'ingresses', true],
  ['networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', true],
] as const;

/** Stores created objects with the defaults of an API server. Records changes without applying them. */
export class StubApi {
  /** Patches with the objects to which they were sent. */
  readonly changes: { readonly change: unknown; readonly object: Manifest }[] = [];
  private readonly objects = new Map<string, Manifest>();
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => void this.answer(request, response));
  }

  static async start(): Promise<StubApi> {
    const api = new StubApi();
    api.server.listen(0, '127.0.0.1');
    await once(api.server, 'listening');
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?');
    const found = discovery(path) ?? (await this.object(path, request));
    response.writeHead(found ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(
      JSON.stringify(
        found ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 },
      ),
    );
  }

  private async object(path: string, request: IncomingMessage): Promise<Manifest | undefined> {
    const object = this.objects.get(path);
    if (object && request.method === 'PATCH') this.changes.push({ change: await json(request), object });
    if (request.method !== 'POST') return object;
    const manifest = (await json(request)) as Manifest;
    const kept = asKept(manifest);
    this.objects.set(`${path}/${manifest.metadata.name}`, kept);
    return kept;
  }
}

function discovery(path: string): object | undefined {
  const versions = [...new Set(RESOURCES.map(([version]) => version))];
  const ofVersion = (version: string): object => ({
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: version,
    resources: RESOURCES.filter(([candidate]) => candidate === version).map(([, kind, name, namespaced]) => ({
      name,
      kind,
      namespaced,
      singularName: kind.toLowerCase(),
      verbs: ['create', 'get', 'patch'],
    })),
  });
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') {
    const groups = versions
      .filter((version) => version !== 'v1')
      .map((groupVersion) => {
        const [name, version] = groupVersion.split('/');
        return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
      });
    return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  }
  const version = versions.find(
    (candidate) => path === (candidate === 'v1' ? '/api/v1' : `/apis/${candidate}`),
  );
  return version && ofVersion(version);
}
