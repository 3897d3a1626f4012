import { availableParallelism, loadavg } from 'node:os';

// Three tiers, by file name: *.unit.spec.ts, *.spec.ts and *.long.spec.ts.
const tier = (displayName, testMatch, more) => ({
  displayName,
  testMatch,
  roots: ['apps', 'libs', 'local', 'test', 'qa', 'k8s'].map((folder) => `<rootDir>/${folder}`),
  testRunner: '<rootDir>/test/jest/native-runner.mjs',
  testEnvironment: '<rootDir>/test/jest/environment.mjs',
  // Node loads TypeScript without Jest's transforms. Suites that start processes build `dist` when they are loaded.
  transform: {},
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
  testSequencer: '<rootDir>/test/jest/slowest-first.mjs',
  // A suite often waits for servers, child processes and timeouts. More workers delay the suites that measure a load.
  maxWorkers: Math.ceil(1.5 * availableParallelism()),
  // Restarts a worker between suites if its memory has grown above this limit.
  workerIdleMemoryLimit: '1500MB',
  // A worker takes 1 s to free 500 MB at its exit. Jest reports leaks of a worker that takes longer than this.
  workerGracefulExitTimeout: 30_000,
  // Stops hanging tests; the runner allows long suites more. A machine with other work is slower.
  testTimeout: Math.ceil(20_000 * Math.max(1, loadavg()[0] / availableParallelism())),
};
