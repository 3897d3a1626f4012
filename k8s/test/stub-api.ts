import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { asKept } from './api-defaults.js';
import type { Manifest } from './render.js';

/** Resources that kubectl may request: group and version, path, and true if namespaced. */
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

/**
 * Stub of an API server for `kubectl apply`: stores created objects with the defaults of a real API server.
 * It records changes without applying them.
 */
export class StubApi {
  /** Patches with their objects. */
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
    resources: RESOURCES.filter(([of]) => of === version).map(([, kind, name, namespaced]) => ({
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
