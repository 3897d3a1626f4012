import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../servers/run-command.js';
import { isolatedEnvironment, StartedProduct } from '#test/end-to-end/started-product.js';

/** Timeout of one run, which takes minutes on a busy machine. */
const RUN_TIMEOUT_MS = 200_000;
const SCRIPT = fileURLToPath(new URL('../../dist/local/demo-operator.js', import.meta.url));

describe('npm run demo:operator', () => {
  let product: StartedProduct;
  let environment: { LOCAL_DIR: string };

  beforeAll(async () => {
    const isolated = await isolatedEnvironment();
    environment = isolated;
    product = new StartedProduct(isolated);
    await product.ready();
  });

  afterAll(async () => {
    await product?.kill('SIGTERM');
    await rm(environment.LOCAL_DIR, { recursive: true });
  });

  const runDemo = () =>
    runCommand(process.execPath, ['--no-warnings', SCRIPT], {
      cwd: process.cwd(),
      env: { PATH: process.env.PATH, LOCAL_DIR: environment.LOCAL_DIR },
      timeout: RUN_TIMEOUT_MS,
    });

  it(
    'succeeds repeatedly and prints no secret',
    async () => {
      const first = await runDemo();
      expect(first).toMatchObject({ code: 0, stderr: '' });
      expect(first.stdout).toContain('✓ Every step succeeded.');
      for (const command of ['client', 'user', 'grant', 'explain', 'audit', 'keys', 'doctor'])
        expect(first.stdout).toMatch(new RegExp(`^ {4}\\$ operator ${command} `, 'm'));
      expect(first.stdout).not.toMatch(/s(ac|at|rt|cs)_[\w-]{3}/);
      expect(first.stdout).not.toContain('\u001b');
      expect((await runDemo()).stdout).toContain('✓ Every step succeeded.');
    },
    3 * RUN_TIMEOUT_MS,
  );
});
