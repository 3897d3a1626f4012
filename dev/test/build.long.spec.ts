import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

describe('a build', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'build-test-'));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  // npm run operator, demo and start build first: one may load files while another writes them.
  it('writes nothing when nothing has changed', async () => {
    await build();
    const before = await files();
    await build();
    expect(before.size).toBeGreaterThan(100);
    expect(await files()).toEqual(before);
  });

  it('without packages fails with the command to install them, after it has shown its progress', async () => {
    const empty = await mkdtemp(join(folder, 'empty-'));
    await copyFile('package.json', join(empty, 'package.json'));
    for (const command of ['start', 'test']) {
      const failed = await run('npm', [command], { cwd: empty }).then(
        () => undefined,
        (error: { stdout: string; stderr: string }) => error,
      );
      expect(failed?.stderr).toMatch(/^The packages are not installed, or not all of them\. Run: npm ci$/m);
      if (command === 'start') expect(failed?.stdout).toMatch(/^> .*building: some seconds/m);
    }
  });

  async function build(): Promise<void> {
    const compiler = join('node_modules', 'typescript', 'bin', 'tsc');
    // `npm run typecheck` checks types.
    await run(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--noCheck', '--outDir', folder]);
  }

  /** When each file was written, in milliseconds since the epoch. */
  async function files(): Promise<Map<string, number>> {
    const found = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return new Map(
      await Promise.all(paths.map(async (path) => [path, (await stat(path)).mtimeMs] as [string, number])),
    );
  }
});
