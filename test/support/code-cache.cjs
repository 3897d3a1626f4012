// Loads bundles with V8's compiled code of an earlier run, which halves the CPU time of a start. From Node 22 on,
// NODE_COMPILE_CACHE does the same.
const { createHash } = require('node:crypto');
const { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { constants, Script } = require('node:vm');

// Node announces the loader of `importModuleDynamically` as experimental, in a line that is not a log entry.
const { emitWarning } = process;
process.emitWarning = (warning, ...more) =>
  String(warning).includes('USE_MAIN_CONTEXT_DEFAULT_LOADER')
    ? undefined
    : emitWarning.call(process, warning, ...more);

const BUNDLES = path.join(__dirname, '../../dist/apps');
const FOLDER = path.join(__dirname, '../../.local/cache/code');

const { _compile: compile } = Module.prototype;

Module.prototype._compile = function (source, filename, ...more) {
  if (path.dirname(filename) !== BUNDLES) return compile.call(this, source, filename, ...more);
  const name = path.basename(filename);
  // V8 compares only the lengths of sources.
  const file = path.join(
    FOLDER,
    `${name}-${process.version}-${createHash('sha256').update(source).digest('hex')}`,
  );
  const cachedData = read(file);
  const script = new Script(Module.wrap(source), {
    filename,
    cachedData,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (!cachedData || script.cachedDataRejected)
    process.once('exit', () => store(name, file, script.createCachedData()));
  const require = Module.createRequire(filename);
  return script.runInThisContext().call(this.exports, this.exports, require, this, filename, BUNDLES);
};

function read(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function store(name, file, code) {
  const draft = path.join(FOLDER, `draft-${process.pid}`);
  try {
    mkdirSync(FOLDER, { recursive: true });
    for (const other of readdirSync(FOLDER))
      if (other.startsWith(`${name}-`)) rmSync(path.join(FOLDER, other), { force: true });
    writeFileSync(draft, code);
    renameSync(draft, file);
  } catch {
    // A start without the cache is only slower.
  }
}
