import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  findLibraries,
  type FoundLibrary,
  type MissingLibrary,
  type WantedLibrary,
} from '#testing/foreign-library.js';
import { runCommand } from '#testing/backing/run-command.js';
import { lastLines } from '#testing/backing/started-service.js';

/** Below the repository, so that a recipe finds the packages of the repository as well as those of recipes only. */
const FOLDER = resolve('.local/recipes');
const MANIFESTS = resolve('dev/test/recipes');
const DRIVERS = resolve('dev/test/recipes/drivers');

/** A recipe of docs/integrate.md. */
export interface Recipe {
  readonly heading: string;
  /** The file that the code is written to. */
  readonly file: string;
  /** An npm package, or packages of Debian. */
  readonly library: string | WantedLibrary;
  /** Compiles it in its folder. */
  readonly build?: (library: FoundLibrary) => readonly [string, ...string[]];
  readonly start: (library: FoundLibrary) => readonly [string, ...string[]];
}

/** Each recipe with its library, or with the reason why there is none. */
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
  for (const folder of [FOLDER, '.']) {
    const manifest = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8').catch(
      () => '',
    );
    if (manifest === '') continue;
    const { version } = JSON.parse(manifest) as { version: string };
    return { command: process.execPath, env: process.env, version };
  }
  return { missing: `npm could not install ${name} (${trouble})` };
}

/** @returns the code of a recipe: what stands first in a fence below its heading */
async function codeOf(heading: string): Promise<string> {
  const guide = await readFile('docs/integrate.md', 'utf8');
  const [, section] = guide.split(`\n### ${heading}\n`);
  const code = section?.split(/^##/m)[0]?.match(/^```\w+\n(.*?)^```$/ms)?.[1];
  if (code === undefined) throw new Error(`docs/integrate.md has no recipe ${heading}`);
  return code;
}

/** A folder with a recipe, and the driver that calls its functions. */
export async function recipeFolder(
  { heading, file }: Pick<Recipe, 'heading' | 'file'>,
  driver?: string,
): Promise<string> {
  await mkdir(FOLDER, { recursive: true });
  const folder = await mkdtemp(join(FOLDER, 'recipe-'));
  await writeFile(join(folder, file), await codeOf(heading));
  if (driver !== undefined) await cp(join(DRIVERS, driver), join(folder, driver));
  return folder;
}

/** @throws Error with what the compiler printed */
export async function compile(
  folder: string,
  [command, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  // What Go keeps of a build, for the next one.
  const all = { GOCACHE: resolve('.local/go-build'), ...env };
  const { code, stdout, stderr } = await runCommand(command, args, { cwd: folder, env: all });
  if (code !== 0) throw new Error(`the recipe was not built: ${stdout}${stderr}`);
}

export const removeRecipe = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/**
 * Installs the packages that only recipes use, once for each lock file.
 *
 * @returns why that failed, in a line; undefined if they are there
 */
async function installPackages(): Promise<string | undefined> {
  const files = ['package.json', 'package-lock.json'];
  const wanted = await readFile(join(MANIFESTS, 'package-lock.json'), 'utf8');
  const installed = await readFile(join(FOLDER, 'installed'), 'utf8').catch(() => '');
  if (installed === wanted) return undefined;
  await mkdir(FOLDER, { recursive: true });
  for (const file of files) await cp(join(MANIFESTS, file), join(FOLDER, file));
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1', '--loglevel=error'];
  const { NODE_OPTIONS: _ofJest, ...env } = process.env;
  const npm = await runCommand('npm', ['ci', ...options], { cwd: FOLDER, env, timeout: 200_000 });
  if (npm.code !== 0) return lastLines(npm.stderr, 1);
  await writeFile(join(FOLDER, 'installed'), wanted);
  return undefined;
}
