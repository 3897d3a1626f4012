import { availableParallelism } from 'node:os';
import { swcOptions } from './test/jest/swc-options.mjs';

// Three tiers, told apart by the name of the file: *.unit.spec.ts, *.spec.ts and *.long.spec.ts.
const tier = (displayName, testMatch, more) => ({
  displayName,
  testMatch,
  testEnvironment: process.argv.includes('--coverage')
    ? '<rootDir>/test/jest/coverage-environment.mjs'
    : 'node',
  roots: ['apps', 'libs', 'local', 'test', 'qa', 'k8s'].map((folder) => `<rootDir>/${folder}`),
  // swc compiles each file on its own, and `#lib/…` is read from the library's sources. Suites that start
  // processes run what `npm run build` wrote to dist.
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^#(local|test)/(.*)\\.js$': '<rootDir>/$1/$2.ts',
    '^#(\\w+)/(.*)\\.js$': '<rootDir>/libs/$1/src/$2.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: { '^.+\\.ts$': ['@swc/jest', swcOptions] },
  ...more,
});

const servers = {
  globalSetup: '<rootDir>/test/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/test/jest/global-teardown.mjs',
};

export default {
  projects: [
    tier('unit', ['**/test/**/*.unit.spec.ts']),
    tier('test', ['**/test/**/!(*.unit|*.long).spec.ts'], servers),
    tier('long', ['**/test/**/*.long.spec.ts'], servers),
    // Needs a container engine: `npm run test:containers`.
    tier('containers', ['**/k8s/test/containers/*.test.ts'], servers),
  ],
  // Suites wait for servers and child processes about a third of the time: three workers on two cores.
  maxWorkers: Math.ceil(availableParallelism() * 1.5),
  // Node keeps every ES module that it has evaluated, some 15 MB per suite. A worker of several gigabytes pauses for
  // seconds to collect garbage, and its commands to Redis time out.
  workerIdleMemoryLimit: '1GB',
  // Against a hang, not to measure: processes take seconds to start on a busy machine.
  testTimeout: 240_000,
  collectCoverageFrom: ['apps/*/src/**/*.ts', 'libs/*/src/**/*.ts'],
  coverageDirectory: 'coverage',
  coverageProvider: 'babel',
  // qa/coverage.ts writes the report.
  coverageReporters: ['json'],
};
