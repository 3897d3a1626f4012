// Builds dist: tsc compiles the changed files, and esbuild bundles each app with its packages into
// dist/apps/<name>.cjs. Unbundled, an app resolves, reads and links some 2,000 modules: two thirds of the CPU time of
// its start, and 15 MB.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = import.meta.dirname;
const DIST = join(ROOT, 'dist');
const SOURCES = ['apps', 'libs', 'local', 'test', 'qa'];
/** Files that affect the build. node_modules/.package-lock.json describes the installed packages. */
const SETTINGS = [
  'build.mjs',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'node_modules/.package-lock.json',
];
/** File with the digest of the inputs of the last complete build. */
const STAMP = join(DIST, '.build', 'stamp');
const QUEUE = join(DIST, '.build', 'queue');
/** Names of subfolders that are not inputs of a build. */
const UNREAD = new Set(['test', 'node_modules', 'dist']);

/** Packages with native code. They are not bundled, because they load files from their own folders. */
const NATIVE = ['sharp', '@node-rs/argon2', '@node-rs/bcrypt'];

/** Packages for tracing, which are loaded only if tracing is enabled. */
const TRACING = ['core', 'exporter-trace-otlp-http', 'resources', 'sdk-trace-base'];

/** Optional packages of Nest, which are not installed. */
const ABSENT = [
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/view',
  '@nestjs/platform-express',
  '@nestjs/websockets/*',
  'amqp-connection-manager',
  'class-transformer',
  'kafkajs',
  'mqtt',
];

/**
 * Escapes non-ASCII characters in regular expressions, which esbuild does not escape. With such a character, V8
 * stores the whole source in two bytes per character: 5 to 9 MB of an app's memory.
 */
const ascii = {
  name: 'ascii',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      return { contents: text.replaceAll(/[^\0-\x7f]/g, escaped) };
    });
  },
};

const isCurrent = () => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === digestOfSources();

if (!isCurrent()) {
  await inTurn(async () => {
    // Another process may have finished the build in the meantime.
    if (!isCurrent()) await build();
  });
}

async function build() {
  process.stderr.write('Building: some seconds, the first time more\n');
  // Computed first: after a change during the build, dist is not current. A failed build leaves no digest.
  const digest = digestOfSources();
  rmSync(STAMP, { force: true });
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const compile = [compiler, '-p', 'tsconfig.build.json'];
  // Writes to stderr, because stdout belongs to the command that needs the build.
  const { status } = spawnSync(process.execPath, compile, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
  for (const output of filesBelow(SOURCES.map((folder) => join(DIST, folder)))) {
    const source = join(ROOT, relative(DIST, output).replace(/\.js(\.map)?$/, '.ts'));
    if (/\.js(on|\.map)?$/.test(output) && !existsSync(source)) rmSync(output);
  }
  await bundle();
  writeWhole(STAMP, digest);
}

async function bundle() {
  const { build: esbuild } = await import('esbuild');
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const names = readdirSync(join(ROOT, 'apps'));
  const { outputFiles } = await esbuild({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries(names.map((name) => [name, `dist/apps/${name}/src/main.js`])),
    outdir: 'dist/apps',
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20',
    // CommonJS evaluates modules imported on demand, such as openid-client, on demand; a single ES module cannot.
    format: 'cjs',
    // Replaces `import()` by `require`, because on Node 20 code from V8's cache cannot call `import()`.
    supported: { 'dynamic-import': false },
    outExtension: { '.js': '.cjs' },
    // Ignores the paths of tsconfig.json, which lead to the sources. `imports` of package.json leads to tsc's output.
    tsconfigRaw: {},
    // V8 keeps the source in memory; white space is 2 to 3 MB of it. Names are not shortened, for the stack traces.
    minifyWhitespace: true,
    plugins: [ascii],
    // keepNames is off: it would name every closure at run time, which takes 5 % of a small request.
    sourcemap: true,
    sourcesContent: false,
    define: { 'process.env.SERVICE_VERSION': JSON.stringify(version) },
    external: [...NATIVE, ...TRACING.map((name) => `@opentelemetry/${name}`), ...ABSENT],
    logLevel: 'error',
  });
  for (const { path, contents } of outputFiles) writeWhole(path, contents);
}

/** SHA-256 of all inputs of the build. */
function digestOfSources() {
  const hash = createHash('sha256');
  const settings = SETTINGS.map((name) => join(ROOT, name));
  for (const file of [...settings, ...filesBelow(SOURCES.map((folder) => join(ROOT, folder)))]) {
    const content = readFileSync(file);
    hash.update(`${relative(ROOT, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Returns all files in the existing folders, in a fixed order, without tests and packages. */
function filesBelow(folders) {
  return folders.filter(existsSync).flatMap((folder) => {
    const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !UNREAD.has(name));
    const named = entries.toSorted((one, two) => (one.name < two.name ? -1 : 1));
    return named.flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow([path]) : [path];
    });
  });
}

/** Replaces a file atomically: a process that reads it concurrently gets the old or the new content. */
function writeWhole(file, content) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, file);
}

/** Runs `work` after all processes with lower tickets have finished or died. */
async function inTurn(work) {
  mkdirSync(QUEUE, { recursive: true });
  const ticket = await takeTicket();
  let waitsFor = runningBefore(ticket);
  if (waitsFor.length > 0) process.stderr.write(`Waiting for the build of process ${waitsFor.join(', ')}\n`);
  for (; waitsFor.length > 0; waitsFor = runningBefore(ticket)) await sleep(50);
  try {
    await work();
  } finally {
    for (const number of tickets())
      if (number === ticket || (number < ticket && runningOwner(number) === null))
        rmSync(ticketFile(number), { force: true });
  }
}

/** Returns a number above all others. After a collision with another process, tries a higher number. */
async function takeTicket() {
  for (;;) {
    const number = Math.max(0, ...tickets()) + 1;
    if (createTicket(number)) {
      if (tickets().every((other) => other <= number)) return number;
      rmSync(ticketFile(number));
    }
    await sleep(Math.random() * 20);
  }
}

/** @returns false if another process has the number */
function createTicket(number) {
  try {
    // A symbolic link is created atomically with its content.
    symlinkSync(String(process.pid), ticketFile(number));
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function tickets() {
  return readdirSync(QUEUE).map(Number);
}

function ticketFile(number) {
  return join(QUEUE, String(number));
}

function runningBefore(ticket) {
  return tickets()
    .filter((number) => number < ticket)
    .map(runningOwner)
    .filter((owner) => owner !== null);
}

/** Returns the process id of the owner of a ticket; null if the process has ended or the ticket was removed. */
function runningOwner(number) {
  try {
    const owner = Number(readlinkSync(ticketFile(number)));
    process.kill(owner, 0);
    return owner;
  } catch {
    return null;
  }
}
