import { swcOptions } from './libs/testing/jest/swc-options.mjs';

// Tests are ES modules compiled one by one by swc; the libraries are read from
// their sources, so that a test run needs no build.
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/dev', '<rootDir>/k8s'],
  testMatch: ['**/test/**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^#(\\w+)/(.*)\\.js$': '<rootDir>/libs/$1/src/$2.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: { '^.+\\.ts$': ['@swc/jest', swcOptions] },
  globalSetup: '<rootDir>/libs/testing/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/jest/global-teardown.mjs',
  // Most suites wait for servers and child processes more than they compute: one worker a core.
  maxWorkers: '100%',
  // Node keeps every ES module that it has evaluated, some 15 MB a suite. A worker with gigabytes stands still for seconds while
  // it collects garbage, in which commands to Redis time out, and takes longer to end than jest waits for.
  workerIdleMemoryLimit: '512MB',
  // Against a hang, not to measure: processes take seconds to start on a busy machine.
  testTimeout: 240_000,
};
