import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { runCommand } from '#testing/backing/run-command.js';
import { findKubectl } from './kubectl.js';
import { makeSettings, ROOT } from './settings.js';

export const OVERLAYS = ['local', 'production'] as const;

export type Manifest = KubernetesObject &
  Required<Pick<KubernetesObject, 'apiVersion' | 'kind' | 'metadata'>>;

/**
 * What `kubectl apply -k` would send. The manifests are rendered from a copy, where the local overlay's settings are made.
 *
 * @param change is given the copy of k8s/ before it is rendered
 */
export async function render(
  path: string,
  change: (folder: string) => Promise<void> = async () => undefined,
): Promise<Manifest[]> {
  const folder = await mkdtemp(join(tmpdir(), 'k8s-'));
  try {
    const own = (from: string): boolean => !from.includes('/generated') && !from.includes('/k8s/test');
    await cp(join(ROOT, 'k8s'), folder, { recursive: true, filter: own });
    await makeSettings(join(folder, 'overlays/local/generated'));
    await change(folder);
    const { code, stdout, stderr } = await runCommand(await findKubectl(), ['kustomize', join(folder, path)]);
    if (code !== 0 || stderr !== '') throw new Error(`kubectl kustomize ${path}: ${stderr}`);
    return parseAllDocuments(stdout).map((document) => unfolded(document.toJS() as Manifest));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Kustomize breaks base64 into lines, which the API takes and its schema does not. */
function unfolded(manifest: Manifest): Manifest {
  const { data } = manifest as { data?: Record<string, string> };
  if (manifest.kind !== 'Secret' || !data) return manifest;
  const whole = Object.entries(data).map(([key, text]) => [key, text.replace(/\s/g, '')]);
  return Object.assign(manifest, { data: Object.fromEntries(whole) });
}
