import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { lastLines } from '#local/servers/started-service.js';
import { findLibraries, type FoundLibrary, type MissingLibrary } from '../support/foreign-library.js';
import { type Recipe, RECIPES_FOLDER } from './recipe.js';

const MANIFESTS = resolve('test/recipes');

/** Finds the library of each recipe, or the reason why it is missing. */
export async function findLibrariesOf<Kind extends Recipe>(
  recipes: readonly Kind[],
): Promise<{ recipe: Kind; library: FoundLibrary | MissingLibrary }[]> {
  const debian = recipes.flatMap(({ library }) => (typeof library === 'string' ? [] : [library]));
  const found = await findLibraries(debian);
  const trouble = await installPackages();
  return Promise.all(
    recipes.map(async (recipe) => ({
      recipe,
      library:
        typeof recipe.library === 'string'
          ? await findPackage(recipe.library, trouble)
          : found[debian.indexOf(recipe.library)]!,
    })),
  );
}

async function findPackage(name: string, trouble = ''): Promise<FoundLibrary | MissingLibrary> {
  for (const folder of [RECIPES_FOLDER, '.']) {
    const manifest = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8').catch(
      () => '',
    );
    if (manifest === '') continue;
    const { version } = JSON.parse(manifest) as { version: string };
    return { command: process.execPath, env: process.env, version };
  }
  return { missing: `npm could not install ${name} (${trouble})` };
}

/**
 * Installs the packages that only recipes use, once for each lock file.
 *
 * @returns why that failed, in a line; undefined if they are there
 */
async function installPackages(): Promise<string | undefined> {
  const files = ['package.json', 'package-lock.json'];
  const wanted = await readFile(join(MANIFESTS, 'package-lock.json'), 'utf8');
  const installed = await readFile(join(RECIPES_FOLDER, 'installed'), 'utf8').catch(() => '');
  if (installed === wanted) return undefined;
  await mkdir(RECIPES_FOLDER, { recursive: true });
  for (const file of files) await cp(join(MANIFESTS, file), join(RECIPES_FOLDER, file));
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1', '--loglevel=error'];
  const { NODE_OPTIONS: _ofJest, ...env } = process.env;
  const npm = await runCommand('npm', ['ci', ...options], { cwd: RECIPES_FOLDER, env, timeout: 200_000 });
  if (npm.code !== 0) return lastLines(npm.stderr, 1);
  await writeFile(join(RECIPES_FOLDER, 'installed'), wanted);
  return undefined;
}
