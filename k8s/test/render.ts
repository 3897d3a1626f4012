import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { runCommand } from '#local/servers/run-command.js';
import { findKubectl } from './kubectl.js';
import { ROOT, runScript } from './settings.js';

export const OVERLAYS = ['local', 'production'] as const;

export type Manifest = KubernetesObject &
  Required<Pick<KubernetesObject, 'apiVersion' | 'kind' | 'metadata'>>;

/** Runs `work` with the path of a copy of k8s/, in which the local overlay has its settings. */
export async function withCopy<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const copy = await mkdtemp(join(tmpdir(), 'k8s-'));
  try {
    const own = (from: string): boolean => !from.includes('/generated') && !from.includes('/k8s/test');
    for (const folder of ['k8s', 'deploy'])
      await cp(join(ROOT, folder), join(copy, folder), { recursive: true, filter: own });
    await runScript(join(copy, 'k8s/overlays/local/settings.sh'));
    return await work(join(copy, 'k8s'));
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/**
 * Returns the manifests that `kubectl apply -k` would send.
 *
 * @param change modifies the copy of k8s/ before it is rendered
 */
export function render(
  path: string,
  change: (folder: string) => Promise<void> = async () => undefined,
): Promise<Manifest[]> {
  return withCopy(async (folder) => {
    await change(folder);
    const { code, stdout, stderr } = await runCommand(await findKubectl(), ['kustomize', join(folder, path)]);
    if (code !== 0 || stderr !== '') throw new Error(`kubectl kustomize ${path}: ${stderr}`);
    return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
  });
}
