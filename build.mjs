// Builds dist: tsc compiles what has changed, and esbuild makes each app one file with its packages, dist/apps/<name>.cjs. Node
// otherwise resolves, reads and links some 2,000 modules, which takes two thirds of the CPU time of a start, and 15 MB of memory.
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
/** The last one describes the installed packages. */
const SETTINGS = [
  'build.mjs',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'node_modules/.package-lock.json',
];
/** Digest of everything that the last complete build was made from. */
const STAMP = join(DIST, '.build', 'stamp');
const QUEUE = join(DIST, '.build', 'queue');
/** Folders that no build reads. */
const UNREAD = new Set(['test', 'node_modules', 'dist']);

/** Packages with native code, which load files from their own folders. */
const NATIVE = ['sharp', '@node-rs/argon2', '@node-rs/bcrypt'];

/** Packages of tracing, loaded only when it is on. */
const TRACING = ['core', 'exporter-trace-otlp-http', 'resources', 'sdk-trace-base'];

/** Packages that Nest loads only for features that we do not use; not installed. */
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
 * Escapes non-ASCII characters in regular expressions, which esbuild does not. V8 would keep the whole source in two bytes per
 * character: 5 to 9 MB of an app's memory.
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
    // Another process may have built it in the meantime.
    if (!isCurrent()) await build();
  });
}

async function build() {
  process.stderr.write('Building: some seconds, the first time more\n');
  // A change during the build differs from this digest, and a build that fails has none.
  const digest = digestOfSources();
  rmSync(STAMP, { force: true });
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const compile = [compiler, '-p', 'tsconfig.build.json'];
  // stdout belongs to the command that needs the build.
  const { status } = spawnSync(process.execPath, compile, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
  for (const output of filesBelow(SOURCES.map((folder) => join(DIST, folder)))) {
    const source = join(ROOT, relative(DIST, output).replace(/\.js(\.map)?$/, '.ts'));
    if (/\.js(\.map)?$/.test(output) && !existsSync(source)) rmSync(output);
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
    // Modules imported on demand, such as openid-client, are evaluated on demand, which a single ES module cannot do.
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    // tsc's output, by `imports` of package.json. The paths of tsconfig.json lead to the sources.
    tsconfigRaw: {},
    // V8 keeps the source in memory: white space is 2 to 3 MB of it. Names stay, so that stack traces can be read.
    minifyWhitespace: true,
    plugins: [ascii],
    // Without keepNames, which names every closure at run time: 5 % of a small request. Nothing depends on names of classes.
    sourcemap: true,
    sourcesContent: false,
    define: { 'process.env.SERVICE_VERSION': JSON.stringify(version) },
    external: [...NATIVE, ...TRACING.map((name) => `@opentelemetry/${name}`), ...ABSENT],
    logLevel: 'error',
  });
  for (const { path, contents } of outputFiles) writeWhole(path, contents);
}

/** SHA-256 of everything that a build reads. */
function digestOfSources() {
  const hash = createHash('sha256');
  const settings = SETTINGS.map((name) => join(ROOT, name));
  for (const file of [...settings, ...filesBelow(SOURCES.map((folder) => join(ROOT, folder)))]) {
    const content = readFileSync(file);
    hash.update(`${relative(ROOT, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

/** Paths of all files in these folders, in a fixed order, without tests and packages. An image is built without some of the folders. */
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

/** Runs `work` once every process that came earlier has finished or died. */
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

/** @returns a number above all others. A process that loses the race for a number takes the next one */
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
    // A symbolic link is created together with its content.
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

/** Process id of the owner of a ticket; null if the process has ended or the ticket was removed. */
function runningOwner(number) {
  try {
    const owner = Number(readlinkSync(ticketFile(number)));
    process.kill(owner, 0);
    return owner;
  } catch {
    return null;
  }
}
