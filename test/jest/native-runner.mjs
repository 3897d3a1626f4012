// Runs suites with Jest's own runner, but loads modules with Node in place of Jest's sandbox: the suites of a worker share the
// packages and our sources, which the sandbox evaluates again for each suite (docs/adr/0042-tests-without-a-sandbox.md).
import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { takeCoverage } from 'node:v8';
import circus from 'jest-circus/runner';
import { jest } from './jest-globals.mjs';
import './register-typescript.mjs';

process.setSourceMapsEnabled(true);

const require = createRequire(import.meta.url);

export default async function runSuite(globalConfig, config, environment, runtime, testPath, send) {
  // Node maps the positions in stacks to the sources, unless a formatter is installed, as Jest's is for each suite.
  delete Error.prepareStackTrace;
  try {
    return await circus.default(
      globalConfig,
      config,
      { global: globalThis },
      nativeRuntime(runtime),
      testPath,
      send,
    );
  } finally {
    for (const storage of storages.splice(0)) storage.disable();
    jest.restoreAllMocks();
    if (process.env.NODE_V8_COVERAGE) takeCoverage();
  }
}

/** Storages of the suite's jest-circus. Node before 24 copies the value of every enabled storage to every new promise. */
const storages = [];

class RecordedStorage extends AsyncLocalStorage {
  constructor() {
    super();
    storages.push(this);
  }
}

/** Jest's runtime with Node's module loader. */
function nativeRuntime(runtime) {
  return Object.assign(Object.create(runtime), {
    requireInternalModule(path) {
      // It keeps the tests and event handlers of one suite.
      delete require.cache[path];
      asyncHooks.AsyncLocalStorage = RecordedStorage;
      try {
        return require(path);
      } finally {
        asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
      }
    },
    requireModule: require,
    setGlobalsForRuntime() {},
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path).href),
  });
}
