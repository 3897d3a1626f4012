import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join, delimiter } from 'node:path';
import { runCommand } from '#local/servers/run-command.js';
import { lastLines } from '#local/servers/started-service.js';
import {
  type FoundLibrary,
  type MissingLibrary,
  findLibraries,
  PACKAGES,
  SHORT_JVM,
} from '../support/foreign-library.js';
import { MANIFESTS, RECIPES_FOLDER, type RegistryLibrary, type Recipe, RECIPE_PACKAGES } from './recipe.js';

async function findInRegistry(library: RegistryLibrary): Promise<FoundLibrary | MissingLibrary> {
  await mkdir(RECIPES_FOLDER, { recursive: true });
  return library.tool === 'go' ? findModule(library.name) : findJar(library.name);
}

/** Finds a Go module. Recipes are built in a subfolder, so that go.mod applies to them. */
async function findModule(name: string): Promise<FoundLibrary | MissingLibrary> {
  await copyManifests('go.mod', 'go.sum');
  const downloaded = await run('go', 'mod', 'download');
  if (downloaded.code !== 0) return missing(`go could not download ${name}`, downloaded);
  const { stdout } = await run('go', 'list', '-m', '-f', '{{.Version}}', name);
  // Matches the setting for Debian's packages, so that the standard library is compiled once.
  return { command: 'go', env: { ...process.env, CGO_ENABLED: '0' }, version: stdout.trim() };
}

async function findJar(name: string): Promise<FoundLibrary | MissingLibrary> {
  if (!(await isResolved())) {
    await rm(CLASSPATH, { force: true });
    await copyManifests('pom.xml');
    const output = '-Dmdep.outputFile=classpath';
    const resolved = await run('mvn', '-B', '-q', 'dependency:build-classpath', output);
    if (resolved.code !== 0) return missing(`Maven could not download ${name}`, resolved);
  }
  const classpath = (await readFile(CLASSPATH, 'utf8')).trim();
  const [, version = ''] = classpath.split(`/${name}-`)[1]?.match(/^([\d.]+)\.jar/) ?? [];
  return { command: 'java', env: { ...process.env, CLASSPATH: classpath }, version };
}

const CLASSPATH = join(RECIPES_FOLDER, 'classpath');

/** @returns true if Maven has resolved this manifest before, and all jars still exist; it takes 5 s of CPU time */
async function isResolved(): Promise<boolean> {
  const read = (file: string) => readFile(file, 'utf8').catch(() => '');
  const [pom, resolved, classpath] = [
    await read(join(MANIFESTS, 'pom.xml')),
    await read(join(RECIPES_FOLDER, 'pom.xml')),
    await read(CLASSPATH),
  ];
  return classpath !== '' && pom === resolved && classpath.trim().split(delimiter).every(existsSync);
}

async function copyManifests(...files: readonly string[]): Promise<void> {
  for (const file of files) await cp(join(MANIFESTS, file), join(RECIPES_FOLDER, file));
}

const run = (command: string, ...args: readonly string[]) =>
  runCommand(command, args, { cwd: RECIPES_FOLDER, timeout: 200_000 });

function missing(what: string, { stdout, stderr }: { stdout: string; stderr: string }): MissingLibrary {
  return { missing: `${what} (${lastLines(stderr || stdout, 1)})`, isOptional: true };
}

/** Arguments of javac before the sources. */
export const JAVAC = [...SHORT_JVM.map((option) => `-J${option}`), '-d', '.'] as const;

/** Arguments of java before the class. */
export const javaArguments = ({ CLASSPATH: jars }: NodeJS.ProcessEnv) =>
  [...SHORT_JVM, '-cp', ['.', jars].join(delimiter)] as const;

interface ClientRecipe extends Recipe {
  readonly driver: string;
}

const javaScript = (heading: string, name = heading): ClientRecipe => ({
  heading,
  source: `recipes/${name}.mjs`,
  file: 'recipe.mjs',
  driver: 'driver.mjs',
  library: heading,
  start: ({ command }) => [command, 'driver.mjs'],
});

const python = (heading: string, probe: string, needs: readonly string[]): ClientRecipe => ({
  heading,
  source: `recipes/${heading.toLowerCase()}.py`,
  file: 'recipe.py',
  driver: 'driver.py',
  library: { interpreter: 'python3', packages: PACKAGES.python3, probe },
  needs,
  start: ({ command }) => [command, '-B', 'driver.py'],
});

/** Recipes in the order of docs/integrate.md. */
export const CLIENT_RECIPES: readonly ClientRecipe[] = [
  { ...javaScript('openid-client'), needs: ['[client.allowInsecureRequests]'] },
  { ...javaScript('oauth4webapi'), needs: [', ...options'] },
  { ...javaScript('simple-oauth2'), needs: ['    state,\n'] },
  javaScript('@badgateway/oauth2-client', 'badgateway-oauth2-client'),
  python('Authlib', 'import authlib.integrations.requests_client; print(authlib.__version__)', [
    'code_challenge_method="S256",',
  ]),
  python('requests-oauthlib', 'import requests_oauthlib; print(requests_oauthlib.__version__)', [
    'os.environ["OAUTHLIB_RELAX_TOKEN_SCOPE"] = "1"',
    'if ISSUER.startswith("http://localhost:"):\n    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"',
  ]),
  {
    heading: 'oauth2',
    source: 'recipes/oauth2.rb',
    needs: ['state: state,'],
    file: 'recipe.rb',
    driver: 'driver.rb',
    library: {
      interpreter: 'ruby',
      packages: ['ruby-oauth2'],
      probe: 'require "oauth2"; require "oauth2/version"; puts OAuth2::Version',
    },
    start: ({ command }) => [command, 'driver.rb'],
  },
  {
    heading: 'golang.org/x/oauth2',
    source: 'recipes/oauth2.go',
    file: 'recipe.go',
    driver: 'driver.go',
    library: {
      interpreter: 'go',
      packages: PACKAGES.go,
      probe: 'golang.org/x/oauth2',
    },
    build: ({ command }) => [command, 'build', '-o', 'recipe', 'recipe.go', 'driver.go'],
    start: () => ['./recipe'],
  },
  {
    heading: 'google-oauth-client',
    source: 'recipes/google-oauth-client.java',
    needs: ['.setState(session.state())'],
    file: 'Recipe.java',
    driver: 'Driver.java',
    library: {
      interpreter: 'java',
      packages: PACKAGES.java,
      probe: 'test/recipes/OauthClientVersion.java',
    },
    build: ({ command }) => [command.replace(/[^/]+$/, 'javac'), ...JAVAC, 'Recipe.java', 'Driver.java'],
    start: ({ command, env }) => [command, ...javaArguments(env), 'Driver'],
  },
];

export async function findLibrariesOf<Kind extends Pick<Recipe, 'library'>>(
  recipes: readonly Kind[],
): Promise<{ recipe: Kind; library: FoundLibrary | MissingLibrary }[]> {
  const debian = recipes.flatMap(({ library }) =>
    typeof library === 'string' || 'tool' in library ? [] : [library],
  );
  const found = await findLibraries(debian);
  const installError = await RECIPE_PACKAGES.install();
  const find = ({ library }: Kind) => {
    if (typeof library === 'string') return findPackage(library, installError);
    return 'tool' in library ? findInRegistry(library) : found[debian.indexOf(library)]!;
  };
  return Promise.all(recipes.map(async (recipe) => ({ recipe, library: await find(recipe) })));
}

async function findPackage(name: string, installError = ''): Promise<FoundLibrary | MissingLibrary> {
  if (name === 'node') return { command: process.execPath, env: process.env, version: process.version };
  for (const folder of [RECIPES_FOLDER, '.']) {
    const manifest = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8').catch(
      () => '',
    );
    if (manifest === '') continue;
    const { version } = JSON.parse(manifest) as { version: string };
    return { command: process.execPath, env: process.env, version };
  }
  return { missing: `npm could not install ${name} (${installError})` };
}
