import { runCommand } from '#local/servers/run-command.js';

const bench = (...args: string[]) =>
  runCommand(process.execPath, ['dist/qa/bench/bench.js', ...args], {
    cwd: process.cwd(),
    env: { PATH: process.env['PATH'] },
  });

describe('npm run bench', () => {
  it('prints its usage for --help and measures nothing', async () => {
    const { code, stdout, stderr } = await bench('--help');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^npm run bench \[-- --write\]\n/);
    expect(stdout).toContain('docs/sizing.md');
  });

  it.each(['--wirte', '--write=yes', '-h', 'write'])('rejects %s and measures nothing', async (option) => {
    const { code, stdout, stderr } = await bench(option);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: .*\n\nnpm run bench/s);
  });
});
