import { readFile } from 'node:fs/promises';
import {
  findLibraries,
  type FoundLibrary,
  type MissingLibrary,
  type WantedLibrary,
} from '#testing/foreign-library.js';

/** A recipe with the functions that those of client libraries have in common. */
export interface Recipe {
  /** In docs/integrate.md. */
  readonly heading: string;
  /** The file that the code is written to. */
  readonly file: string;
  /** The program beside it that calls its functions. */
  readonly driver: string;
  /** Debian's packages; none for a JavaScript library, which is a package of this repository. */
  readonly library?: WantedLibrary;
  /** Compiles it in its folder. */
  readonly build?: (library: FoundLibrary) => readonly [string, ...string[]];
  readonly start: (library: FoundLibrary) => readonly [string, ...string[]];
}

const javaScript = (heading: string): Recipe => ({
  heading,
  file: 'recipe.mjs',
  driver: 'driver.mjs',
  start: ({ command }) => [command, 'driver.mjs'],
});

const RECIPES: readonly Recipe[] = [
  javaScript('openid-client'),
  javaScript('oauth4webapi'),
  javaScript('simple-oauth2'),
  javaScript('@badgateway/oauth2-client'),
];

/** Every recipe, with the library or why there is none. */
export async function findRecipes(): Promise<(readonly [Recipe, FoundLibrary | MissingLibrary])[]> {
  const foreign = RECIPES.filter(isForeign);
  const found = await findLibraries(foreign.map(({ library }) => library));
  const javaScripts = RECIPES.filter((recipe) => !isForeign(recipe)).map(async (recipe) => {
    const manifest = await readFile(`node_modules/${recipe.heading}/package.json`, 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    return [recipe, { command: process.execPath, env: process.env, version }] as const;
  });
  return [
    ...(await Promise.all(javaScripts)),
    ...foreign.map((recipe, index) => [recipe, found[index]!] as const),
  ];
}

function isForeign(recipe: Recipe): recipe is Recipe & { library: WantedLibrary } {
  return recipe.library !== undefined;
}
