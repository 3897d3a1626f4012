// Runs suites with Jest's runner, but loads modules with Node instead of Jest's sandbox. The suites of a worker share
// packages and sources, which the sandbox would evaluate for each suite (docs/adr/0042-tests-without-a-sandbox.md).
import asyncHooks from 'node:async_hooks';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString, takeCoverage } from 'node:v8';
import circus from 'jest-circus/runner';
// Imported before any entry point of Nest, because `@nestjs/common/internal` does not import it.
import 'reflect-metadata';
import { jest } from './jest-globals.mjs';
import './register-typescript.mjs';

process.setSourceMapsEnabled(true);

const require = createRequire(import.meta.url);

/** 16 times V8's default of Node 20. */
const OPTIMIZE_LATER = '--interrupt-budget=1056000';

export default async function runSuite(globalConfig, config, environment, runtime, testPath, send) {
  // Removes the stack formatter that Jest installs for each suite, because it prevents Node's source maps.
  delete Error.prepareStackTrace;
  const isLong = testPath.endsWith('.long.spec.ts');
  // Suites without measurements spend a fifth of their CPU time on optimizing functions that rarely run again.
  if (!isLong) setFlagsFromString(OPTIMIZE_LATER);
  try {
    return await circus.default(
      isLong ? { ...globalConfig, testTimeout: 4 * globalConfig.testTimeout } : globalConfig,
      config,
      { global: globalThis },
      nativeRuntime(runtime),
      testPath,
      send,
    );
  } finally {
    jest.restoreAllMocks();
    if (process.env.NODE_V8_COVERAGE) takeCoverage();
  }
}

/**
 * Replaces the AsyncLocalStorage of a suite's jest-circus, which runs one test at a time: before Node 24, a storage slows
 * down every promise, also in later suites. An error that a test causes after its end fails the test that is running.
 */
class CurrentTest {
  getStore() {
    return this.store;
  }

  async run(store, callback) {
    const outer = this.store;
    this.store = store;
    try {
      return await callback();
    } finally {
      this.store = outer;
    }
  }
}

/** Returns Jest's runtime with Node's module loader. */
function nativeRuntime(runtime) {
  return Object.assign(Object.create(runtime), {
    requireInternalModule(path) {
      // Loads the module again, because it stores the tests and event handlers of one suite.
      delete require.cache[path];
      const { AsyncLocalStorage } = asyncHooks;
      asyncHooks.AsyncLocalStorage = CurrentTest;
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
