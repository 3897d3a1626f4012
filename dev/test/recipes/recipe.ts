import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runCommand } from '#testing/backing/run-command.js';
import { lastLines } from '#testing/backing/started-service.js';

/** Below the repository, so that a recipe finds the packages of the repository as well as those of recipes only. */
const FOLDER = resolve('.local/recipes');
const MANIFESTS = resolve('dev/test/recipes');
const DRIVERS = resolve('dev/test/recipes/drivers');

/** @returns the code of a recipe: what stands first in a fence below its heading */
export async function codeOf(heading: string): Promise<string> {
  const guide = await readFile('docs/integrate.md', 'utf8');
  const [, section] = guide.split(`\n### ${heading}\n`);
  const code = section?.split(/^##/m)[0]?.match(/^```\w+\n(.*?)^```$/ms)?.[1];
  if (code === undefined) throw new Error(`docs/integrate.md has no recipe ${heading}`);
  return code;
}

/** A folder with a recipe, and the driver that calls its functions. */
export async function recipeFolder(heading: string, file: string, driver?: string): Promise<string> {
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
 * Installs the JavaScript libraries that only recipes use, once for each lock file.
 *
 * @returns why that failed, in a line; undefined if they are there
 */
export async function installLibraries(): Promise<string | undefined> {
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
