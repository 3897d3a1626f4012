import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import type { FoundLibrary, WantedLibrary } from '../support/foreign-library.js';

/** Below the repository, so that a recipe finds the packages of the repository as well as those of recipes only. */
export const RECIPES_FOLDER = resolve('.local/recipes');

const GUIDE = 'docs/integrate.md';

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
  /** Pieces of the code without which it does not work, because the library's default is another. */
  readonly needs?: readonly string[];
}

type Printed = Pick<Recipe, 'heading' | 'file'>;

/** A folder with a recipe in it. */
export class RecipeFolder {
  private constructor(readonly path: string) {}

  /**
   * @param options driver: the program beside it that calls its functions; without: a piece of the code that is left out
   */
  static async of(
    recipe: Printed,
    options: { driver?: string; without?: string | undefined } = {},
  ): Promise<RecipeFolder> {
    await mkdir(RECIPES_FOLDER, { recursive: true });
    const folder = new RecipeFolder(await mkdtemp(join(RECIPES_FOLDER, 'recipe-')));
    await folder.add(recipe, options.without);
    const { driver } = options;
    if (driver !== undefined) await cp(resolve('test/recipes/drivers', driver), join(folder.path, driver));
    return folder;
  }

  /** Writes the code of a recipe. @returns it */
  async add({ heading, file }: Printed, without = ''): Promise<string> {
    const code = await codeOf(heading);
    if (!code.includes(without)) throw new Error(`the recipe ${heading} has no ${without}`);
    await writeFile(join(this.path, file), code.replace(without, ''));
    return code;
  }

  /** @throws Error with what the compiler printed */
  async compile([command, ...args]: readonly [string, ...string[]], env: NodeJS.ProcessEnv): Promise<void> {
    // What Go keeps of a build, for the next one.
    const all = { GOCACHE: resolve('.local/go-build'), ...env };
    const { code, stdout, stderr } = await runCommand(command, args, { cwd: this.path, env: all });
    if (code !== 0) throw new Error(`the recipe was not built: ${stdout}${stderr}`);
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

/** @returns the shell commands of the flow, step by step */
export async function commandsOfFlow(): Promise<string[]> {
  const section = (await readFile(GUIDE, 'utf8')).split('\n## The flow\n')[1]?.split(/^## /m)[0] ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands);
}

/** @returns what stands first in a fence below the heading */
async function codeOf(heading: string): Promise<string> {
  const [, section] = (await readFile(GUIDE, 'utf8')).split(`\n### ${heading}\n`);
  const code = section?.split(/^##/m)[0]?.match(/^```\w+\n(.*?)^```$/ms)?.[1];
  if (code === undefined) throw new Error(`${GUIDE} has no recipe ${heading}`);
  return code;
}
