import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const isTest = process.env['JEST_WORKER_ID'] !== undefined;

// Modules that start processes of `dist` import this one, which builds what has changed. Suites without processes do not
// wait for it, and no timeout of a test contains it, because it happens while the suite is loaded.
if (isTest) {
  const [code] = (await once(
    spawn(process.execPath, ['build.mjs'], { stdio: ['ignore', 2, 2] }),
    'exit',
  )) as [number];
  if (code !== 0) throw new Error('npm run build failed');
}

/** Arguments of Node for processes of `dist`. */
export const NODE_ARGUMENTS: readonly string[] = isTest
  ? ['--require', resolve('test/support/code-cache.cjs')]
  : [];
