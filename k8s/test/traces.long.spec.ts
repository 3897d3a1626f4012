import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { passes, type Peer, podsOf, spelledRules } from './connections.js';
import { containersOf, workloads } from './manifests.js';
import { type Manifest, OVERLAYS, render } from './render.js';
import { problemsOf } from './schema.js';

const COLLECTOR: Peer = { name: 'collector', namespace: 'observability', labels: { any: 'pod' } };
describe.each(OVERLAYS)('the %s overlay with the component for traces', (overlay) => {
  const apps = ['authorize', ...(overlay === 'local' ? ['console'] : []), 'resource', 'token'];
  let without: Manifest[];
  let manifests: Manifest[];
  beforeAll(async () => {
    const path = `overlays/${overlay}`;
    const include = async (folder: string): Promise<void> => {
      const file = join(folder, path, 'kustomization.yaml');
      const text = await readFile(file, 'utf8');
      await writeFile(
        file,
        text.replace(/\ncomponents:\n(?: {2}- .*\n)+/, '$&  - ../../components/traces\n'),
      );
    };
    [without, manifests] = await Promise.all([render(path), render(path, include)]);
  });

  it('is valid for the Kubernetes API', async () => {
    expect(await problemsOf(manifests)).toEqual([]);
  });

  it('allows only the apps to reach the collector', () => {
    const may = podsOf(manifests).filter((pod) => passes(manifests, pod, COLLECTOR, 4318));
    expect(may.map(({ name }) => name).sort()).toEqual(apps);
    expect(podsOf(without).some((pod) => passes(without, pod, COLLECTOR, 4318))).toBe(false);
    const known = new Set(spelledRules(without));
    expect(spelledRules(manifests).filter((rule) => !known.has(rule))).toEqual([
      'to-collector to namespace observability: TCP 4318',
    ]);
  });

  it('sets the collector’s address only for the apps', () => {
    const tracing = workloads(manifests)
      .flatMap(containersOf)
      .filter(({ env = [] }) => env.some(({ name }) => name === 'OTEL_EXPORTER_OTLP_ENDPOINT'));
    expect(tracing.map(({ name }) => name).sort()).toEqual(apps);
  });
});
