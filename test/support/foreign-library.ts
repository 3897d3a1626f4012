import { mkdtemp, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { delimiter, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Apt } from '#local/servers/apt.js';
import { exists, localFolder } from '#local/servers/service-folder.js';
import { type Progress, progressOn } from '#local/servers/progress.js';
import { runCommand } from '#local/servers/run-command.js';
import { lastLines } from '#local/servers/started-service.js';
import { Workspace } from '#local/servers/workspace.js';
import { inTurn } from './test-database.js';

export interface WantedLibrary {
  interpreter: keyof typeof INTERPRETERS;
  /** Debian packages, usually of `PACKAGES`. Libraries with the same packages share the unpacked files. */
  packages: readonly [string, ...string[]];
  /**
   * Script or Java source file that loads the library and prints its version, or the import path of a Go package.
   */
  probe: string;
}

/** Debian packages of all suites by language, so that they are unpacked once. */
export const PACKAGES = {
  python3: [
    'python3-authlib',
    'python3-requests-oauthlib',
    'python3-flask',
    'python3-jwt',
    'python3-fastapi',
    'python3-uvicorn',
    'python3-httpx',
  ],
  go: [
    'golang-go',
    'golang-golang-x-oauth2-dev',
    'golang-github-coreos-go-oidc-dev',
    'golang-github-nats-io-go-nats-dev',
  ],
  java: ['libgoogle-oauth-client-java', 'libjackson2-databind-java'],
} as const;

export interface FoundLibrary {
  command: string;
  env: NodeJS.ProcessEnv;
  version: string;
}

export interface MissingLibrary {
  /** One line with the packages to install, and with the reason why they could not be unpacked. */
  missing: string;
  /** True for what a machine with only npm's and Debian's packages lacks. */
  isOptional?: boolean;
}

/** Environment with PATH, and parent folder of the unpacked packages. */
export interface LibraryPlaces {
  env: NodeJS.ProcessEnv;
  folder: string;
}

const PROJECT: LibraryPlaces = {
  env: process.env,
  folder: fileURLToPath(new URL('../../.local/', import.meta.url)),
};

// Without a response from the network for this time, tests continue without the libraries.
const LONGEST_STALL_MS = process.env['REQUIRE_LIBRARIES'] ? 120_000 : 30_000;

/** Options of the JVM for programs that run for seconds. They take half of the CPU time. */
export const SHORT_JVM = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'] as const;

const SHARED_LIBRARIES = { LD_LIBRARY_PATH: ['lib/*', 'usr/lib/*'] };

/**
 * Arguments of the probe, and library folders. Relative paths are below the unpacked packages. Absolute paths are
 * installed folders that the interpreter does not search by default.
 */
const INTERPRETERS = {
  python3: { args: ['-c'], paths: { ...SHARED_LIBRARIES, PYTHONPATH: ['usr/lib/python3/dist-packages'] } },
  ruby: {
    args: ['-e'],
    paths: {
      ...SHARED_LIBRARIES,
      RUBYLIB: [
        'usr/lib/ruby/*',
        'usr/lib/*/ruby/*',
        'usr/lib/*/ruby/vendor_ruby/*',
        'usr/lib/ruby/gems/*/gems/*/lib',
        'usr/share/rubygems-integration/*/gems/*/lib',
      ],
    },
  },
  // Packages are found in GOPATH, because Go would download modules.
  go: {
    args: ['list', '-f', '{{.ImportPath}}, {{context.ReleaseTags | len | printf "Go 1.%d"}}'],
    paths: { GOPATH: ['usr/share/gocode', '/usr/share/gocode'] },
    env: { GO111MODULE: 'off', CGO_ENABLED: '0' },
    libraries: /^golang-.*-dev$/,
  },
  java: { args: SHORT_JVM, paths: { CLASSPATH: ['usr/share/java/*', '/usr/share/java/*'] } },
  perl: { args: ['-e'], paths: { ...SHARED_LIBRARIES, PERL5LIB: ['usr/share/perl5', 'usr/lib/*/perl5/*'] } },
  sh: {
    args: ['-c'],
    paths: {
      ...SHARED_LIBRARIES,
      PATH: ['usr/sbin', '/usr/sbin', '/usr/bin', '/bin'],
      APACHE_MODULES: ['usr/lib/apache2/modules'],
    },
  },
  // A start-up file sets the module folders of zsh, because zsh does not read them from the environment.
  zsh: {
    args: ['-fc'],
    paths: {
      ...SHARED_LIBRARIES,
      FPATH: ['usr/share/zsh/functions', 'usr/share/zsh/functions/*', 'usr/share/zsh/functions/Completion/*'],
      ZSH_MODULES: ['usr/lib/*/zsh/*'],
    },
  },
} satisfies Record<string, Interpreter>;

interface Interpreter {
  args: readonly string[];
  paths: Readonly<Record<string, readonly string[]>>;
  env?: NodeJS.ProcessEnv;
  /** Packages without the compiler, for a machine that has one: Debian's compiler has 500 MB. */
  libraries?: RegExp;
}

/** Finds installed libraries, or unpacks the distribution's packages into `.local/packages` without root. */
export async function findLibraries(
  wanted: readonly WantedLibrary[],
  places: LibraryPlaces = PROJECT,
): Promise<(FoundLibrary | MissingLibrary)[]> {
  const findAll = () => Promise.all(wanted.map((library) => find(library, places)));
  const found = await findAll();
  if (found.every((library) => 'version' in library)) return found;
  return inTurn('libraries', async () => unpackMissing(wanted, await findAll(), places));
}

/** @param found results, in which this function replaces the missing libraries */
async function unpackMissing(
  wanted: readonly WantedLibrary[],
  found: (FoundLibrary | MissingLibrary)[],
  places: LibraryPlaces,
): Promise<(FoundLibrary | MissingLibrary)[]> {
  const workspace = new Workspace(places.env);
  const show = progressOn(process.stderr);
  let stalled = false;
  let timer: NodeJS.Timeout | undefined;
  const progress: Progress = (text, passing) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      stalled = true;
      // Removing the workspace also ends its commands.
      void workspace.remove();
    }, LONGEST_STALL_MS);
    show(text, passing);
  };
  try {
    await localFolder(places.folder);
    const draft = await workspace.folder(join(places.folder, 'packages'));
    const apt = new Apt(workspace, draft, places.env, progress);
    // Unpacks sequentially, so that apt fetches package lists only once.
    for (const [index, library] of wanted.entries()) {
      if ('version' in found[index]!) continue;
      try {
        // A library with the same packages may have been unpacked before.
        found[index] = await loadUnpacked(library, places);
        if ('version' in found[index]) continue;
        await unpack(library, apt, draft, places);
        found[index] = await loadUnpacked(library, places);
      } catch (error) {
        const why = stalled ? `nothing came for ${LONGEST_STALL_MS / 1000} s` : (error as Error).message;
        found[index] = missing(library, lastLines(why, 1));
      } finally {
        clearTimeout(timer);
      }
    }
    return found;
  } finally {
    await workspace.remove();
  }
}

async function find(library: WantedLibrary, places: LibraryPlaces): Promise<FoundLibrary | MissingLibrary> {
  // The packages were unpacked because the installed interpreter could not load the library.
  if (await exists(treeOf(library, places))) {
    const unpacked = await loadUnpacked(library, places);
    if ('version' in unpacked) return unpacked;
  }
  for (const command of [library.interpreter, join('/usr/bin', library.interpreter)]) {
    const installed = await load(library, command, places.env);
    if ('version' in installed) return installed;
  }
  return loadUnpacked(library, places);
}

async function unpack(library: WantedLibrary, apt: Apt, draft: string, places: LibraryPlaces): Promise<void> {
  const { interpreter, packages } = library;
  await apt.required();
  const known = await apt.newest(packages);
  const unknown = packages.filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`the distribution has no ${unknown.join(' and no ')}`);
  const { libraries }: Interpreter = INTERPRETERS[interpreter];
  const hasCompiler =
    libraries && (await runCommand(interpreter, ['version'], { env: places.env })).code === 0;
  const needed = (await apt.toInstall(packages)).filter((name) => !hasCompiler || libraries.test(name));
  const files = await mkdtemp(join(draft, 'files-'));
  const tree = await mkdtemp(join(draft, 'tree-'));
  if (needed.length > 0) await apt.download(needed, files);
  await apt.unpack(files, needed, tree);
  await leadToInstalled(tree);
  // Replaces a tree whose library does not load.
  const place = treeOf(library, places);
  await rm(place, { recursive: true, force: true });
  await rename(tree, place);
}

/** Redirects links whose targets belong to installed packages, which were not unpacked. */
async function leadToInstalled(tree: string): Promise<void> {
  for (const entry of await readdir(tree, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    const link = join(entry.parentPath, entry.name);
    const target = resolve(entry.parentPath, await readlink(link));
    const installed = join('/', relative(tree, target));
    if ((await exists(target)) || !(await exists(installed))) continue;
    await rm(link);
    await symlink(installed, link);
  }
}

async function loadUnpacked(
  library: WantedLibrary,
  places: LibraryPlaces,
): Promise<FoundLibrary | MissingLibrary> {
  const tree = treeOf(library, places);
  const { paths, env: fixed }: Interpreter = INTERPRETERS[library.interpreter];
  const env = { ...places.env, ...fixed };
  for (const [variable, patterns] of Object.entries(paths)) {
    const folders = await Promise.all(patterns.map((pattern) => pathsLike(tree, pattern)));
    env[variable] = folders.flat().join(delimiter);
  }
  const candidates = [join(tree, 'usr/bin'), join(tree, 'bin'), '/usr/bin'].map((folder) =>
    join(folder, library.interpreter),
  );
  const isPresent = await Promise.all(candidates.map((candidate) => exists(candidate)));
  const command = candidates[isPresent.indexOf(true)] ?? library.interpreter;
  return load(library, command, env);
}

async function load(
  library: WantedLibrary,
  command: string,
  env: NodeJS.ProcessEnv,
): Promise<FoundLibrary | MissingLibrary> {
  const { args } = INTERPRETERS[library.interpreter];
  const options = { cwd: process.cwd(), env, timeout: 60_000 };
  const { code, stdout, stderr } = await runCommand(command, [...args, library.probe], options);
  if (code === 0) return { command, env, version: stdout.trim() };
  return missing(library, `${command}: ${lastLines(stderr, 1) || `exit code ${code}`}`);
}

function missing({ interpreter, packages }: WantedLibrary, why: string): MissingLibrary {
  return {
    missing: `install ${packages.join(' and ')}, as Debian calls them (${why})`,
    // The packages do not contain the JDK.
    ...(interpreter === 'java' && { isOptional: true }),
  };
}

function treeOf({ packages }: WantedLibrary, { folder }: LibraryPlaces): string {
  return join(folder, 'packages', packages.join('+'));
}

/** Expands "*" at the end of a name in a path. Relative patterns start at `root`. */
async function pathsLike(root: string, pattern: string): Promise<string[]> {
  let paths = [pattern.startsWith('/') ? '/' : root];
  for (const name of pattern.split('/').filter(Boolean)) {
    const [start, ...end] = name.split('*');
    const below = paths.map(async (path) => {
      if (end.length === 0) return [join(path, name)];
      const entries = await readdir(path).catch(() => []);
      return entries.filter((entry) => entry.startsWith(start!)).map((entry) => join(path, entry));
    });
    paths = (await Promise.all(below)).flat();
  }
  return paths;
}

/**
 * Declares a test for what is missing, which is skipped and whose name says why. With REQUIRE_LIBRARIES, which
 * `.ci/run` sets, the test fails instead, unless the library is optional.
 */
export function reportSkipped(subject: string, { missing, isOptional = false }: MissingLibrary): void {
  const name = `${subject} is skipped: ${missing}`;
  // Jest prints the names of skipped tests only with --verbose.
  process.stderr.write(`${name}\n`);
  if (isOptional || !process.env['REQUIRE_LIBRARIES']) it.skip(name, () => undefined);
  else
    it(name, () => {
      throw new Error(missing);
    });
}
