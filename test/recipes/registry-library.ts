import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { lastLines } from '#local/servers/started-service.js';
import type { FoundLibrary, MissingLibrary } from '../support/foreign-library.js';
import { MANIFESTS, RECIPES_FOLDER, type RegistryLibrary } from './recipe.js';

/** Downloads the library, unless an earlier call has. */
export async function findInRegistry(library: RegistryLibrary): Promise<FoundLibrary | MissingLibrary> {
  await mkdir(RECIPES_FOLDER, { recursive: true });
  return library.tool === 'go' ? findModule(library.name) : findJar(library.name);
}

/** Recipes are built in folders of this one, and so belong to its module. */
async function findModule(name: string): Promise<FoundLibrary | MissingLibrary> {
  await copyManifests('go.mod', 'go.sum');
  const downloaded = await run('go', 'mod', 'download');
  if (downloaded.code !== 0) return missing(`go could not download ${name}`, downloaded);
  const { stdout } = await run('go', 'list', '-m', '-f', '{{.Version}}', name);
  return { command: 'go', env: process.env, version: stdout.trim() };
}

async function findJar(name: string): Promise<FoundLibrary | MissingLibrary> {
  await copyManifests('pom.xml');
  const resolved = await run('mvn', '-B', '-q', 'dependency:build-classpath', '-Dmdep.outputFile=classpath');
  if (resolved.code !== 0) return missing(`Maven could not download ${name}`, resolved);
  const classpath = (await readFile(join(RECIPES_FOLDER, 'classpath'), 'utf8')).trim();
  const [, version = ''] = classpath.split(`/${name}-`)[1]?.match(/^([\d.]+)\.jar/) ?? [];
  return { command: 'java', env: { ...process.env, CLASSPATH: classpath }, version };
}

async function copyManifests(...files: readonly string[]): Promise<void> {
  for (const file of files) await cp(join(MANIFESTS, file), join(RECIPES_FOLDER, file));
}

const run = (command: string, ...args: readonly string[]) =>
  runCommand(command, args, { cwd: RECIPES_FOLDER, timeout: 200_000 });

function missing(what: string, { stdout, stderr }: { stdout: string; stderr: string }): MissingLibrary {
  return { missing: `${what} (${lastLines(stderr || stdout, 1)})` };
}
