// Runs suites with Jest's own runner, but loads modules with Node in place of Jest's sandbox: the suites of a worker share the
// packages and our sources, which the sandbox evaluates again for each suite (docs/adr/0042-tests-without-a-sandbox.md).
import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { takeCoverage } from 'node:v8';
import circus from 'jest-circus/runner';
// Before any entry point of Nest: `@nestjs/common/internal` does not load it itself.
import 'reflect-metadata';
import { jest } from './jest-globals.mjs';
import './register-typescript.mjs';

process.setSourceMapsEnabled(true);

const require = createRequire(import.meta.url);

export default async function runSuite(globalConfig, config, environment, runtime, testPath, send) {
  // Removes the stack formatter that Jest installs for each suite: it would prevent Node's mapping to the sources.
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

/** Storages of a suite's jest-circus, to disable. Node before 24 copies the value of each to every new promise. */
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
      // Loads the module again, because it keeps the tests and event handlers of a suite.
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
